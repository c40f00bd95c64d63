#!/bin/sh
wc -c "$0" >/dev/null
sleep 0.1
