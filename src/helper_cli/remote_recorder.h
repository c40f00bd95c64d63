/* A recorder in a process of its own, for programs in which no thread should sample. */
#pragma once

/*
 * Records and answers over the connected socket (remote_message.h) until the other end closes, then finishes the
 * recording. Returns the exit status.
 */
int remote_recorder_main(int socket);
