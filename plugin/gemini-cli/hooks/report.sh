#!/bin/sh
# Hands a host's event to the program that plumbline init has written. Without that program the host goes on as if nobody had
# been asked. $1 host, $2 event
hook="${PLUMBLINE_HOME:-$HOME/.plumbline}/hook"
if [ -x "$hook" ]; then exec "$hook" "$1" "$2"; fi
cat >/dev/null
if [ "$2" = beforeSubmitPrompt ]; then echo '{"continue":true}'; else echo '{}'; fi
