/* The forms of a recording on disk. */
#pragma once

enum record_format { RECORD_JSON, RECORD_CSV, RECORD_SNAPSHOT };
