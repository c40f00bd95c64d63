summary.ResourceTracker <- function(object, ...) {
  figures <- fromJSON(.Call(rt_summary_of, object$recording, TRUE))
  structure(figures, text = .Call(rt_summary_of, object$recording, FALSE), class = "summary.ResourceTracker")
}

print.summary.ResourceTracker <- function(x, ...) {
  cat(attr(x, "text"))
  invisible(x)
}

plot.ResourceTracker <- function(x, ...) {
  frame <- x$get_combined_metrics()
  secs <- as.numeric(difftime(frame$timestamp, frame$timestamp[1], units = "secs"))
  before <- par(mfrow = c(2, 1), mar = c(4, 4, 2, 1))
  on.exit(par(before))
  draw <- function(columns, title, unit) {
    columns <- intersect(columns, names(frame))
    known <- unlist(frame[columns])
    if (!length(known) || all(is.na(known))) return(invisible())
    plot(secs, frame[[columns[1]]], type = "s", ylim = c(0, max(known, na.rm = TRUE)), xlab = "seconds", ylab = unit, main = title, ...)
    for (column in columns[-1]) lines(secs, frame[[column]], type = "s", lty = 2)
  }
  draw(c("process_cpu_usage", "system_cpu_usage"), "CPU (dashed: the machine)", "cores")
  draw(if ("process_memory_mib" %in% names(frame)) "process_memory_mib" else "system_memory_used_mib", "Memory", "MiB")
  invisible(x)
}

track <- function(expr, ...) {
  tracker <- ResourceTracker$new(...)
  code <- 1L
  # An error or an interrupt of the expression passes on, and the recording ends with exit code 1.
  on.exit(tracker$cleanup(code))
  value <- expr
  code <- 0L
  tracker$cleanup(code)
  structure(list(value = value, tracker = tracker), class = "tracked")
}

count_workers <- function() invisible(.Call(rt_adopt_orphans))

# "12.3 s, CPU 45.6 s (3.7 cores), peak memory 1024 MiB". Unknown figures are left out.
use_line <- function(tracker) {
  figures <- fromJSON(.Call(rt_summary_of, tracker$recording, TRUE))
  shown <- function(format, ...) if (!any(vapply(list(...), is.null, NA))) sprintf(format, ...)
  paste(c(shown("%.3g s", figures$time$wall_secs), shown("CPU %.3g s (%.2g cores)", figures$time$cpu_secs, figures$cores$mean),
          shown("peak memory %.0f MiB", figures$memory$peak_mib)), collapse = ", ")
}

print.tracked <- function(x, ...) {
  print(x$value, ...)
  cat("# ", use_line(x$tracker), "\n", sep = "")
  invisible(x)
}

summary.tracked <- function(object, ...) summary(object$tracker, ...)

plot.tracked <- function(x, ...) {
  plot(x$tracker, ...)
  invisible(x)
}

knitr_hook <- function(name = "track") {
  running <- list()
  hook <- function(before, options, envir) {
    if (isFALSE(options[[name]])) return(NULL)
    if (before) {
      settings <- list(interval = if (is.numeric(options[[name]])) options[[name]] else 0.1, settings = list(job_name = options$label))
      running[[options$label]] <<- do.call(ResourceTracker$new, settings)
      return(NULL)
    }
    tracker <- running[[options$label]]
    running[[options$label]] <<- NULL
    tracker$stop(0)
    paste0("\n*", use_line(tracker), "*\n")
  }
  knitr::knit_hooks$set(stats::setNames(list(hook), name))
  invisible(hook)
}
