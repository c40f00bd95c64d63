#' Records what a process tree and its machine use: see ?ResourceTracker.
ResourceTracker <- R6Class("ResourceTracker",
  public = list(
    pid = NULL, children = NULL, interval = NULL, method = NULL, discover_cloud = NULL, output_file = NULL,
    start_time = NULL, stop_time = NULL,

    initialize = function(pid = Sys.getpid(), children = TRUE, interval = 1, method = NULL, autostart = TRUE,
                          track_processes = TRUE, track_system = TRUE, discover_cloud = FALSE, output_file = NULL,
                          settings = list()) {
      if (!is.null(method) && !method %in% c("fork", "spawn", "forkserver"))
        stop("method must be NULL, \"fork\", \"spawn\" or \"forkserver\", not \"", method, "\"", call. = FALSE)
      if (length(settings) && is.null(names(settings))) stop("settings must be a named list", call. = FALSE)
      self$pid <- pid
      self$children <- children
      self$interval <- interval
      self$method <- method
      self$discover_cloud <- discover_cloud
      self$output_file <- output_file
      private$kinds <- c("system", "process")[c(track_system, track_processes)]
      private$settings <- settings
      if (autostart) self$start()
    },

    start = function() {
      if (self$running) stop("Resource tracker already running, cannot start again.", call. = FALSE)
      if (!is.null(self$stop_time))
        stop("Resource tracker already stopped. Create a new instance instead of trying to restart it.", call. = FALSE)
      if (is.null(self$output_file)) private$temporary <- tempfile("run-", fileext = ".jsonl")
      settings <- private$all_settings()
      if (self$children && self$pid == Sys.getpid()) count_workers()
      private$handle <- .Call(rt_begin, names(settings), unname(settings), !is.null(self$method))
      private$owner <- Sys.getpid()
      private$output <- .Call(rt_output_path, private$handle)
      self$start_time <- Sys.time()
      invisible(self)
    },

    stop = function(exit_code = NA, run_status = "finished") {
      private$check_started()
      if (is.null(self$stop_time)) {
        if (run_status == "failed" && exit_code %in% c(NA, 0)) exit_code <- 1
        on.exit(self$stop_time <- Sys.time())
        .Call(rt_end, private$handle, as.integer(exit_code))
        while (!is.null(text <- .Call(rt_next_warning, private$handle))) warning(text, call. = FALSE)
      }
      invisible(self)
    },

    # Stops it if it runs. A forked child leaves the recording to its parent.
    cleanup = function(...) {
      if (self$running && private$owner == Sys.getpid()) self$stop(...)
      invisible(self)
    },

    wait_for_samples = function(n = 1, timeout = 5) {
      private$check_started()
      if (!isTRUE(n >= 0) || !isTRUE(timeout >= 0)) stop("n and timeout must be numbers from 0 on", call. = FALSE)
      if (!self$running) {
        if (self$n_samples < n)
          stop("Resource tracker has been already stopped with ", self$n_samples, " sample(s), cannot wait to collect the requested ",
               n, " sample(s).", call. = FALSE)
      } else if (!.Call(rt_wait_for_samples, private$handle, as.double(n), as.double(timeout))) {
        stop("Timed out waiting for resource tracker to collect ", n, " samples", call. = FALSE)
      }
      invisible(self)
    },

    get_combined_metrics = function(bytes = FALSE, human_names = FALSE, system_prefix = NULL, process_prefix = NULL, offset = 0) {
      frame <- private$table("combined")
      kept <- grepl(paste(c("^timestamp", paste0("^", private$kinds, "_")), collapse = "|"), names(frame))
      units <- attr(frame, "units")[kept]
      frame <- structure(tail(frame[kept], max(nrow(frame) - offset, 0)), units = units)
      if (bytes) frame <- in_bytes(frame)
      usual <- if (human_names) c("System ", "Process ") else c("system_", "process_")
      given <- list(system_prefix, process_prefix)
      prefixes <- c(system = if (is.null(given[[1]])) usual[1] else given[[1]],
                    process = if (is.null(given[[2]])) usual[2] else given[[2]])
      names(frame) <- renamed(names(frame), human_names, prefixes)
      structure(frame, units = stats::setNames(attr(frame, "units"), names(frame)))
    },

    newest = function() as.data.frame(.Call(rt_newest_sample, private$check_started())),

    stats = function() fromJSON(.Call(rt_stats_json, private$recorded())),

    advice = function(form = "json", historical_stats = NULL, policy = c("max", "p95", "cost"), input_bytes = 0, attempt = 1,
                      force = FALSE, catalogue = NULL, filters = character()) {
      policy <- match.arg(policy)
      files <- private$history_files(historical_stats)
      text <- .Call(rt_advice_of, c(private$recorded(), files), form, force || self$running,
                    match(policy, c("max", "p95", "cost")) - 1L, as.double(input_bytes), as.integer(attempt), catalogue, filters)
      if (form == "json") fromJSON(text) else text
    },

    recommend_resources = function(historical_stats = NULL, ...) {
      advice <- self$advice(historical_stats = historical_stats, ...)
      if (!is.null(advice$refused)) stop(advice$refused, "; force = TRUE asks anyway", call. = FALSE)
      advice[c("cpu", "memory", "gpu", "vram")]
    },

    recommend_server = function(catalogue = NULL, ..., historical_stats = NULL, force = FALSE) {
      filters <- if (...length()) paste0(names(list(...)), "=", unlist(list(...))) else character()
      advice <- if (is.null(catalogue)) private$ask(filters, private$history_files(historical_stats), force)
                else self$advice(historical_stats = historical_stats, force = force, catalogue = catalogue, filters = filters)
      if (!is.null(advice$refused)) stop(advice$refused, "; force = TRUE asks anyway", call. = FALSE)
      server <- advice$server
      if (is.null(server$problem)) return(server)
      warning(server$problem, call. = FALSE)
      invisible(NULL)
    },

    report = function(integration = "R", historical_stats = NULL, status_failed = FALSE, usd_per_hour = 0, catalogue = NULL,
                      instance = NULL) {
      page <- tempfile("report-", fileext = ".html")
      .Call(rt_write_report, private$recorded(), page, integration, status_failed, as.double(usd_per_hour),
            private$history_files(historical_stats), catalogue, instance)
      Report$new(page)
    },

    print = function(...) {
      state <- if (is.null(self$start_time)) "not started" else if (self$running) "running" else "stopped"
      cat("<ResourceTracker of process ", self$pid, ", ", state, ", ", self$n_samples, " samples>\n", sep = "")
      invisible(self)
    }
  ),

  active = list(
    running = function() !is.null(self$start_time) && is.null(self$stop_time),
    n_samples = function() if (is.null(private$handle)) 0L else .Call(rt_sample_count, private$handle),
    # The rows of another process end with the row in which it ended. Those of the machine go on.
    process_metrics = function() {
      frame <- private$table("process")
      alive <- which(!is.na(frame$memory_mib))
      if (self$pid == Sys.getpid() || !length(alive)) frame else structure(head(frame, max(alive) + 1), units = attr(frame, "units"))
    },
    system_metrics = function() private$table("system"),
    recording = function() private$recorded(),
    server_info = function() fromJSON(.Call(rt_discover_json, FALSE))$server_info,
    cloud_info = function() if (self$discover_cloud) fromJSON(.Call(rt_discover_json, TRUE))$cloud_info
  ),

  private = list(
    handle = NULL, owner = NULL, output = NULL, temporary = NULL, kinds = NULL, settings = NULL,

    # Settings of the library as one vector of texts. A setting that may be given several times stands in it several times.
    all_settings = function() {
      settings <- list(interval = self$interval, output = c(self$output_file, private$temporary)[1], job_name = job_name(),
                       task_name = target_name())
      if ("process" %in% private$kinds) settings$pid <- self$pid else settings$no_process <- TRUE
      if (!self$children) settings$no_children <- TRUE
      if (!"system" %in% private$kinds) settings$no_system <- TRUE
      else if ("process" %in% private$kinds && self$pid != Sys.getpid()) settings$keep_running <- TRUE
      names(private$settings) <- gsub("-", "_", names(private$settings))
      settings[names(private$settings)] <- private$settings
      texts <- lapply(settings, format_setting)
      stats::setNames(unlist(texts), rep(names(texts), lengths(texts)))
    },

    check_started = function() {
      if (is.null(self$start_time)) stop("Resource tracker not started.", call. = FALSE)
      private$handle
    },

    table = function(layout) {
      if (layout != "combined" && !layout %in% private$kinds) return(data.frame())
      frame_of(.Call(rt_table_of, private$check_started(), layout))
    },

    # The path of the recording, as soon as it has a sample.
    recorded = function() {
      if (self$running) self$wait_for_samples(1, max(5 * self$interval, 1)) else private$check_started()
      private$output
    },

    # Recordings, files of runs, and results of stats(), which become files.
    history_files = function(history) {
      if (is.null(history) || is.character(history)) return(as.character(history))
      vapply(history, function(stats) {
        path <- tempfile("stats-", fileext = ".json")
        write_json(stats, path, auto_unbox = TRUE, null = "null", digits = NA)
        path
      }, "")
    },

    # Only the command asks the price service, because the libraries open no socket.
    ask = function(filters, files, force) {
      program <- Sys.which("resource-tracker")
      if (program == "") program <- readLines(system.file("program", package = "resourcetracker"))
      if (!file.exists(program)) stop("the command resource-tracker is not installed: ", program, call. = FALSE)
      options <- c(if (force || self$running) "--force", if (length(filters)) paste0("--server-filter=", filters))
      output <- suppressWarnings(system2(program, shQuote(c("recommend", "--json", "--server", options, private$recorded(), files)),
                                         stdout = TRUE))
      if (!length(output)) stop("resource-tracker recommend gave no answer", call. = FALSE)
      fromJSON(output)
    },

    finalize = function() if (!is.null(private$temporary) && private$owner == Sys.getpid()) unlink(private$temporary)
  )
)

format_setting <- function(value) {
  if (is.logical(value)) value <- as.integer(value)
  if (is.numeric(value)) format(value, scientific = FALSE, digits = 15, trim = TRUE) else as.character(value)
}

# The name of the running target of the package targets, if there is one.
target_name <- function() {
  if (!"targets" %in% loadedNamespaces()) return(NULL)
  name <- tryCatch(targets::tar_name(default = ""), error = function(problem) "")
  if (nzchar(name)) name
}

# The script that R runs.
job_name <- function() {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  if (length(script)) basename(script[1]) else "R"
}

Report <- R6Class("Report", public = list(
  path = NULL,
  initialize = function(path) self$path <- path,
  save = function(filepath) {
    reason <- filepath
    copied <- withCallingHandlers(file.copy(self$path, filepath, overwrite = TRUE), warning = function(warned) {
      reason <<- conditionMessage(warned)
      invokeRestart("muffleWarning")
    })
    if (!copied) stop("the report cannot be written: ", reason, call. = FALSE)
    invisible(self)
  },
  browse = function() {
    browseURL(paste0("file://", self$path))
    invisible(self)
  },
  print = function(...) {
    cat("<Report in ", self$path, ">\n", sep = "")
    invisible(self)
  }
))
