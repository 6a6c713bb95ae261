#!/bin/sh
# usage: canary_must_fail.sh PROGRAM ARGUMENT...
# Succeeds only if the canary dies and says why.
said=$("$@" 2>&1) && {
  echo "the canary did not fail: failures of fuzz targets would not be seen"
  exit 1
}
case $said in
  *"the planted bug was reached"*) exit 0 ;;
esac
echo "the canary failed for another reason:"
echo "$said"
exit 1
