#!/bin/sh
# Stands between the node agent and a container's main process, so that its exit code is known even when the agent was
# away. Usage: shim.sh RUN_FOLDER SETSID COMMAND [ARGUMENT...]. Uses shell built-ins only: the environment is the container's.
#
# RUN_FOLDER/shim and RUN_FOLDER/main get the /proc stat lines of both processes, RUN_FOLDER/exit the exit code.
folder=$1
setsid=$2
shift 2
read -r line < "/proc/$$/stat" && echo "$line" > "$folder/shim"
# The main process gets a session and a process group of its own: killing the group never reaches this shell.
"$setsid" "$@" < /dev/null >> "$folder/log" 2>&1 &
main=$!
read -r line < "/proc/$main/stat" && echo "$line" > "$folder/main"
wait "$main"
code=$?
# As in a container, nothing outlives the main process.
# (`kill -9 -- -N` is not understood by every shell.)
kill -s KILL -- "-$main" 2> /dev/null
echo "$code" > "$folder/exit"
