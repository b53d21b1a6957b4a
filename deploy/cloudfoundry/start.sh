#!/bin/sh
# Cloud Foundry hands secrets over in VCAP_SERVICES; osbctl reads files. PORT it reads itself.
set -eu
umask 077
OSBCTL_CREDENTIALS="${TMPDIR:-/tmp}/credentials.json"
export OSBCTL_CREDENTIALS
python3 - > "$OSBCTL_CREDENTIALS" << 'PYTHON'
import json, os, sys
services = json.loads(os.environ["VCAP_SERVICES"])
bound = [one for all in services.values() for one in all if one["name"] == "osbctl-credentials"]
json.dump(bound[0]["credentials"]["records"], sys.stdout) if bound else sys.exit("osbctl-credentials is not bound")
PYTHON
unset VCAP_SERVICES
exec osbctl serve
