# Units and human names of the columns, by the name without "system_" and "process_". The human names are those of the Python package.
COLUMNS <- utils::read.table(sep = "|", strip.white = TRUE, row.names = 1, col.names = c("column", "unit", "human"), text = "
timestamp             | s since 1970 | Timestamp
processes             |       | processes
pid                   |       | PID
children              |       | children
utime                 | s     | CPU time (user)
stime                 | s     | CPU time (system)
cpu_usage             | cores | CPU usage
memory_mib            | MiB   | memory usage
memory_free_mib       | MiB   | free memory
memory_used_mib       | MiB   | used memory
memory_buffers_mib    | MiB   | memory buffers
memory_cached_mib     | MiB   | memory page/file cached
memory_active_mib     | MiB   | active memory
memory_inactive_mib   | MiB   | inactive memory
disk_read_bytes       | bytes | disk read
disk_write_bytes      | bytes | disk write
disk_space_total_gb   | GB    | disk space total
disk_space_used_gb    | GB    | disk space used
disk_space_free_gb    | GB    | disk space free
net_recv_bytes        | bytes | inbound network traffic
net_sent_bytes        | bytes | outbound network traffic
gpu_usage             | GPUs  | GPU usage
gpu_vram_mib          | MiB   | VRAM used
gpu_utilized          | GPUs  | GPUs in use
")
BYTES <- c(MiB = 2^20, GB = 1e9)

# Makes a data frame of columns as the library gives them: with their units as its attribute, and time stamps of R.
frame_of <- function(columns) {
  units <- stats::setNames(COLUMNS[sub("^(system|process)_", "", names(columns)), "unit"], names(columns))
  frame <- as.data.frame(columns, optional = TRUE)
  frame$timestamp <- as.POSIXct(frame$timestamp, origin = "1970-01-01")
  structure(frame, units = units)
}

in_bytes <- function(frame) {
  units <- attr(frame, "units")
  for (name in names(units)[units %in% names(BYTES)]) frame[[name]] <- frame[[name]] * BYTES[[units[[name]]]]
  units[units %in% names(BYTES)] <- "bytes"
  structure(frame, units = units)
}

# Names the columns for people, with the prefixes that the caller wants.
renamed <- function(names, human, prefixes) {
  kind <- sub("^(system|process)_.*", "\\1", names)
  plain <- sub("^(system|process)_", "", names)
  prefix <- ifelse(kind %in% names(prefixes), prefixes[kind], "")
  paste0(prefix, if (human) COLUMNS[plain, "human"] else plain)
}
