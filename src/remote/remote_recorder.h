/* A recorder of its own for a program that does not want to be sampled by one of its threads. */
#pragma once

/*
 * Records as the connected socket asks (remote_message.h) until its other end has gone: then the recording is finished.
 * Returns the exit status.
 */
int remote_recorder_main(int socket);
