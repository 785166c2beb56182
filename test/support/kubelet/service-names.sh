#!/bin/bash
# The names of Services: dnsmasq answers with what kube-apiserver says. `service-names.sh KUBECTL FOLDER`, with KUBECONFIG.
set -e
kubectl=$1 hosts=$2/hosts
: > "$hosts"
dnsmasq --keep-in-foreground --conf-file=/dev/null --pid-file= --user=root --no-resolv --no-hosts --addn-hosts="$hosts" \
  --local=/cluster.local/ &
server=$!
trap 'kill $server' EXIT
declare -A addresses
line='{.type} {.object.metadata.name}.{.object.metadata.namespace}.svc.cluster.local {.object.spec.clusterIP}{"\n"}'
while read -r type name address; do
  addresses[$name]=$address
  [ "$type" != DELETED ] || unset "addresses[$name]"
  for each in "${!addresses[@]}"; do echo "${addresses[$each]} $each"; done | grep -v ^None > "$hosts.new" || true
  mv "$hosts.new" "$hosts"
  kill -HUP $server
done < <("$kubectl" get services --all-namespaces --watch --output-watch-events --output "jsonpath=$line")
