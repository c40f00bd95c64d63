library(testthat)
library(resourcetracker)

test_check("resourcetracker")
