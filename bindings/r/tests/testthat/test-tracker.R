burn <- function(secs) {
  end <- proc.time()[["user.self"]] + secs
  while (proc.time()[["user.self"]] < end) sqrt(1:1000)
}

recorded <- function(code = burn(0.4), ...) {
  tracker <- ResourceTracker$new(interval = 0.1, ...)
  force(code)
  tracker$wait_for_samples(2)
  tracker$stop()
}

test_that("a tracker has rows of both kinds, with their units", {
  tracker <- recorded()
  expect_gte(tracker$n_samples, 2)
  frame <- tracker$get_combined_metrics()
  expect_s3_class(frame$timestamp, "POSIXct")
  expect_true(all(c("system_cpu_usage", "process_memory_mib") %in% names(frame)))
  expect_equal(attr(frame, "units")[["process_memory_mib"]], "MiB")
  expect_equal(nrow(tracker$process_metrics), tracker$n_samples)
  expect_true(all(frame$process_memory_mib > 10))
})

test_that("CPU time is that of R itself", {
  before <- proc.time()
  tracker <- ResourceTracker$new(interval = 0.1)
  burn(1)
  tracker$stop()
  used <- sum((proc.time() - before)[c("user.self", "sys.self")])
  told <- sum(tracker$process_metrics$utime + tracker$process_metrics$stime)
  expect_lt(abs(told - used), 0.15)
})

test_that("memory of R is counted", {
  tracker <- ResourceTracker$new(interval = 0.05)
  tracker$wait_for_samples(2)
  block <- rep(1, 2.5e7)
  tracker$wait_for_samples(tracker$n_samples + 3)
  tracker$stop()
  memory <- tracker$process_metrics$memory_mib
  expect_gt(max(memory) - memory[1], 0.9 * 8 * length(block) / 2^20)
})

test_that("names and units follow the arguments", {
  tracker <- recorded()
  frame <- tracker$get_combined_metrics(bytes = TRUE, human_names = TRUE, offset = 1)
  expect_true(all(c("Timestamp", "System CPU usage", "Process memory usage") %in% names(frame)))
  expect_equal(attr(frame, "units")[["Process memory usage"]], "bytes")
  expect_equal(nrow(frame), tracker$n_samples - 1)
  expect_true("P memory_mib" %in% names(tracker$get_combined_metrics(process_prefix = "P ")))
  only <- recorded(track_system = FALSE)
  expect_false(any(grepl("^system_", names(only$get_combined_metrics()))))
  expect_equal(nrow(only$system_metrics), 0)
})

test_that("a tracker records once", {
  tracker <- ResourceTracker$new(autostart = FALSE)
  expect_error(tracker$stop(), "not started")
  tracker$start()
  expect_error(tracker$start(), "already running")
  tracker$stop()
  expect_error(tracker$start(), "already stopped")
  expect_silent(tracker$stop())
  expect_error(tracker$wait_for_samples(1000), "already stopped")
})

test_that("bad arguments are named", {
  expect_error(ResourceTracker$new(method = "thread"), "method must be")
  expect_error(ResourceTracker$new(interval = -1), "interval")
  expect_error(ResourceTracker$new(settings = list(no_such_setting = 1)), "no.such.setting")
  tracker <- recorded()
  expect_error(tracker$wait_for_samples(-1), "from 0 on")
  expect_error(tracker$report()$save("/nonexistent/page.html"), "written: .*/nonexistent/page.html.*No such file")
})

test_that("a recording keeps settings and the file that was asked for", {
  path <- tempfile(fileext = ".jsonl")
  tracker <- recorded(output_file = path, settings = list(job_name = "fit", tag = c("a=1", "b=2")))
  expect_equal(normalizePath(tracker$recording), normalizePath(path))
  first <- jsonlite::fromJSON(readLines(path)[1])
  expect_equal(first$job_name, "fit")
  expect_equal(first$run_start$tags, list(a = "1", b = "2"))
})

test_that("statistics, advice and a report come from the recording", {
  tracker <- recorded()
  stats <- tracker$stats()
  expect_gt(stats$process_memory_mib$max, 10)
  advice <- tracker$recommend_resources(force = TRUE, historical_stats = list(stats))
  expect_setequal(names(advice), c("cpu", "memory", "gpu", "vram"))
  expect_gt(advice$memory, stats$process_memory_mib$max)
  expect_match(tracker$advice("slurm", force = TRUE), "--mem")
  page <- tempfile(fileext = ".html")
  tracker$report()$save(page)
  expect_match(paste(readLines(page, n = 5), collapse = ""), "<!doctype html", ignore.case = TRUE)
  expect_output(print(summary(tracker)), "Memory")
})

test_that("unknown is NA and has a reason", {
  newest <- recorded()$newest()
  unknown <- newest[is.na(newest$value) & is.na(newest$text), ]
  expect_false(anyNA(unknown$reason))
  expect_equal(newest$unit[newest$metric == "cpu.process_memory_mib"], "MiB")
})

test_that("track() gives the value, its use, and passes errors on", {
  path <- tempfile(fileext = ".jsonl")
  done <- track(42, interval = 0.1)
  expect_equal(done$value, 42)
  expect_output(print(done), "# .* s, CPU")
  expect_error(track(stop("no data"), interval = 0.1, output_file = path), "no data")
  expect_equal(jsonlite::fromJSON(tail(readLines(path), 1))$run_end$exit_code, 1)
})

test_that("plot() draws", {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  tracker <- recorded()
  expect_identical(plot(tracker), tracker)
  grDevices::dev.off()
  expect_gt(file.size(file), 2000)
})

test_that("a recording apart from R outlives it", {
  path <- tempfile(fileext = ".jsonl")
  code <- sprintf("t <- resourcetracker::ResourceTracker$new(method='spawn', interval=0.1, output_file='%s'); t$wait_for_samples(2); tools::pskill(Sys.getpid(), 9)", path)
  system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = FALSE, stderr = FALSE)
  for (i in 1:100) {
    last <- tryCatch(jsonlite::fromJSON(tail(readLines(path, warn = FALSE), 1)), error = function(problem) NULL)
    if (!is.null(last$run_end)) break
    Sys.sleep(0.1)
  }
  expect_false(is.null(last$run_end))
})
