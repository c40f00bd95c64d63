module resourcetracker

go 1.19
