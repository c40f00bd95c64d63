# CPU time that a tracker of this session counts, with its workers.
counted <- function(code) {
  tracker <- ResourceTracker$new(interval = 0.1)
  force(code)
  tracker$stop()
  sum(tracker$process_metrics$utime + tracker$process_metrics$stime)
}

work <- function(i) {
  while (sum(proc.time()[c("user.self", "sys.self")]) < 1) sqrt(1:1000)
  i
}

test_that("forked workers count", {
  expect_gt(counted(parallel::mclapply(1:2, function(i) { end <- proc.time()[["user.self"]] + 0.5; while (proc.time()[["user.self"]] < end) sqrt(1:1000) },
                                       mc.cores = 2)), 0.9)
})

test_that("workers of makeCluster count", {
  expect_gt(counted({
    cluster <- parallel::makePSOCKcluster(2)
    parallel::parLapply(cluster, 1:2, work)
    parallel::stopCluster(cluster)
  }), 1.8)
})

test_that("workers of future count", {
  skip_if_not_installed("future")
  expect_gt(counted({
    future::plan(future::multisession, workers = 2)
    future::value(future::future(work(1)))
    future::plan(future::sequential)
  }), 0.9)
})

test_that("workers of BiocParallel count", {
  skip_if_not_installed("BiocParallel")
  expect_gt(counted(BiocParallel::bplapply(1:2, work, BPPARAM = BiocParallel::SnowParam(2))), 1.8)
})

test_that("workers of batchtools count", {
  skip_if_not_installed("batchtools")
  expect_gt(counted({
    registry <- batchtools::makeRegistry(file.dir = NA, make.default = FALSE)
    registry$cluster.functions <- batchtools::makeClusterFunctionsSocket(1)
    batchtools::batchMap(work, 1, reg = registry)
    batchtools::submitJobs(reg = registry)
    batchtools::waitForJobs(reg = registry)
  }), 0.9)
})

test_that("a forked child leaves the recording to its parent", {
  tracker <- ResourceTracker$new(interval = 0.1)
  answer <- parallel::mclapply(1:2, mc.cores = 2, function(i) {
    tracker$cleanup()
    tryCatch(tracker$newest(), error = conditionMessage)
  })[[1]]
  expect_match(answer, "belongs to the process that made it")
  expect_true(tracker$running)
  tracker$stop()
})

test_that("the hook of knitr adds a line to a chunk", {
  skip_if_not_installed("knitr")
  document <- c("```{r busy, track=TRUE}", "x <- sum(sqrt(1:1e6))", "```", "", "```{r quiet}", "1", "```")
  knitr_hook()
  text <- knitr::knit(text = document, quiet = TRUE)
  expect_equal(lengths(regmatches(text, gregexpr("\\*[0-9.e-]+ s, CPU", text))), 1)
})

test_that("the target of a pipeline is the name of the task", {
  skip_if_not_installed("targets")
  targets::tar_dir({
    targets::tar_script(list(targets::tar_target(fit, {
      tracker <- resourcetracker::ResourceTracker$new(interval = 0.1)
      tracker$stop()
      jsonlite::fromJSON(readLines(tracker$recording)[1])$run_start$task_name
    })))
    targets::tar_make(callr_function = NULL, reporter = "silent")
    expect_equal(targets::tar_read(fit), "fit")
  })
})
