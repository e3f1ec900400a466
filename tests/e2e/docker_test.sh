#!/usr/bin/env bash
# Builds the images and runs them under docker/compose.yaml and docker/cluster.yaml, for real, on a machine that needs neither an engine
# running nor an image registry: it starts an engine of its own from the distribution's packages, makes the base
# images with debootstrap, and removes all at the end. Only apt and debootstrap use the network, and only the
# mirror that the machine's apt uses; the containers run in a network namespace with nothing but a loopback.
set -euo pipefail

readonly PACKAGES=(docker-compose docker.io iproute2 iptables openssl)
readonly NAMESPACE=waystar-test-$$
readonly SERVER=127.0.0.1:7450
readonly QUERY=(find ten-by-ten '0,0' '7,7')

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly ROOT
# shellcheck source=tests/e2e/debian.sh
source "$ROOT/tests/e2e/debian.sh"
WORK=
ENGINE_PID=

# The packaged client: another one on the PATH may not suit the packaged engine.
docker() { /usr/bin/docker "$@"; }

compose() { /usr/bin/docker-compose --project-name waystar-test --file "$ROOT/docker/compose.yaml" "$@"; }

# Debian 12's docker-compose does not know the file's "name".
fleet() {
  /usr/bin/docker-compose --project-name waystar-fleet-test --project-directory "$ROOT/docker" \
    --file <(sed '/^name:/d' "$ROOT/docker/cluster.yaml") "$@"
}

in_namespace() { nsenter --net="/run/netns/$NAMESPACE" "$@"; }

step() { echo "== $* (${SECONDS}s)"; }

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# quietly COMMAND...: keeps the output for explain_failure.
quietly() { "$@" >>"$WORK/log" 2>&1; }

# expect WHAT WANTED ACTUAL
expect() {
  [[ "$3" == "$2" ]] || fail "$1: wanted \"$2\", got \"$3\""
  echo "ok  $1: $3"
}

# wait_until SECONDS WHAT COMMAND...
wait_until() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    ((SECONDS < deadline)) || fail "$what: waited in vain"
    sleep 0.2
  done
}

# --- the engine

require_root() {
  if ((EUID != 0)); then
    echo "This test starts an engine and a network namespace, so it must be run as root." >&2
    exit 1
  fi
}

engine_answers() {
  kill -0 "$ENGINE_PID" 2>/dev/null || fail "the engine ended"
  docker version >/dev/null 2>&1
}

# start_engine [PREFIX...] -- [FLAG...]
start_engine() {
  local prefix=()
  while [[ "$1" != -- ]]; do
    prefix+=("$1")
    shift
  done
  shift
  echo '{}' >"$WORK/daemon.json"
  "${prefix[@]}" /usr/sbin/dockerd --host="$DOCKER_HOST" --config-file="$WORK/daemon.json" --log-level=warn \
    --data-root="$WORK/data" --exec-root="$WORK/exec" --pidfile="$WORK/docker.pid" "$@" >>"$WORK/engine.log" 2>&1 &
  ENGINE_PID=$!
  wait_until 120 "the engine starts" engine_answers
}

stop_engine() {
  kill "$ENGINE_PID"
  wait "$ENGINE_PID" || true
  ENGINE_PID=
}

# For builds: on the host's network, of which it changes nothing.
start_build_engine() {
  start_engine -- --bridge=none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false
}

# The same images, in the namespace. 198.18.0.0/15 is set aside for tests and routed nowhere.
start_run_engine() {
  ip netns add "$NAMESPACE"
  in_namespace ip link set lo up
  start_engine nsenter --net="/run/netns/$NAMESPACE" -- \
    --bip=198.18.0.1/24 --default-address-pool=base=198.18.128.0/17,size=24
}

explain_failure() {
  local log
  for log in log engine.log; do
    if [[ -s "$WORK/$log" ]]; then
      echo "--- $log" >&2
      tail -n 40 "$WORK/$log" >&2
    fi
  done
  if [[ -n "$ENGINE_PID" ]]; then
    compose logs --no-color --tail=40 >&2
    fleet logs --no-color --tail=40 >&2
  fi
}

clean_up() {
  local status=$?
  trap - EXIT
  set +e
  if [[ -n "$WORK" ]]; then
    ((status == 0)) || explain_failure
    if [[ -n "$ENGINE_PID" ]]; then
      docker ps --all --quiet | xargs --no-run-if-empty /usr/bin/docker rm --force >/dev/null
      stop_engine
    fi
    if [[ -e "/run/netns/$NAMESPACE" ]]; then
      ip netns del "$NAMESPACE"
    fi
    # The engine leaves the mount of a network namespace behind.
    awk -v folder="$WORK/" 'index($2, folder) == 1 { print $2 }' /proc/mounts | xargs --no-run-if-empty umount --lazy
    rm -rf --one-file-system "$WORK"
  fi
  exit "$status"
}

# --- the images

# make_base_image RELEASE
make_base_image() {
  local release=$1 base="$WORK/base"
  quietly make_debian "$release" "$base"
  # As slim as the real one.
  printf 'path-exclude /usr/share/%s/*\n' doc info locale man >"$base/etc/dpkg/dpkg.cfg.d/slim"
  rm -rf "$base"/usr/share/{doc,info,locale,man}/* "$base"/var/{cache/apt/*,lib/apt/lists/*,log/*}
  tar -C "$base" -c . | quietly docker import - "debian:$release-slim"
  rm -rf "$base"
}

# build_image TAG [FLAG...]
build_image() {
  local tag=$1
  shift
  DOCKER_BUILDKIT=1 quietly docker build --progress=plain --network=host --build-arg MIRROR="$(debian_mirror)" "$@" \
    --file "$ROOT/docker/Dockerfile" --tag "$tag" "$ROOT"
}

# Makes the images of cluster.yaml that are not the project's, from Debian's packages.
make_fleet_images() {
  local etcd haproxy
  etcd=$(awk '/image: .*etcd/ { print $2 }' "$ROOT/docker/cluster.yaml")
  haproxy=$(awk '/image: haproxy/ { print $2 }' "$ROOT/docker/cluster.yaml")
  quietly docker build --network=host --tag "$etcd" - <<'DOCKERFILE'
FROM debian:sid-slim
RUN apt-get update && apt-get install -y --no-install-recommends etcd-server etcd-client && rm -r /var/lib/etcd
CMD ["etcd"]
DOCKERFILE
  quietly docker build --network=host --tag "$haproxy" - <<'DOCKERFILE'
FROM debian:sid-slim
RUN apt-get update && apt-get install -y --no-install-recommends haproxy
USER haproxy
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
DOCKERFILE
}

# label NAME IMAGE
label() { docker image inspect --format "{{index .Config.Labels \"org.opencontainers.image.$1\"}}" "$2"; }

check_versions() {
  local image
  for image in waystar waystar:hardened; do
    expect "version of $image" "$(docker run --rm --network=none "$image" --version)" \
      "waystar-server $(label version "$image")"
  done
}

print_sizes() {
  local image bytes
  for image in waystar debian:bookworm-slim waystar:hardened debian:sid-slim; do
    bytes=$(docker image inspect --format '{{.Size}}' "$image")
    echo "ok  size of $image: $((bytes / 1000000)) MB"
  done
}

# --- the container

container() { compose ps --quiet waystar; }

# property TEMPLATE: what the engine knows of the container.
property() { docker inspect --format "$1" "$(container)"; }

in_container() { docker exec "$(container)" "$@"; }

is_healthy() { [[ "$(property '{{.State.Status}} {{.State.Health.Status}}')" == "running healthy" ]]; }

# from_host COMMAND...: the tool on the namespace's own network, so through the published port.
from_host() { docker run --rm --network=host --entrypoint=waystar waystar --server "$SERVER" "$@"; }

# cost COMMAND...: the cost in the answer that `COMMAND... --json` prints.
cost() { "$@" --json | grep -oE '"cost": ?[0-9.]+' | grep -oE '[0-9.]+$'; }

check_confinement() {
  local status limits
  status=$(in_container cat /proc/1/status)
  expect "user of the server" 10001 "$(awk '/^Uid:/ { print $2 }' <<<"$status")"
  expect "capabilities it can ever have" 0000000000000000 "$(awk '/^CapBnd:/ { print $2 }' <<<"$status")"
  expect "its no-new-privileges flag" 1 "$(awk '/^NoNewPrivs:/ { print $2 }' <<<"$status")"
  # Even root: so it is the file system that refuses, not the file's permissions.
  if docker exec --user 0 "$(container)" touch /maps/file 2>>"$WORK/log"; then
    fail "the root file system can be written"
  fi
  echo "ok  the root file system is read-only"
  limits=$(property '{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}} {{.HostConfig.PidsLimit}}')
  [[ "$limits" =~ ^([1-9][0-9]*\ ?){3}$ ]] || fail "of memory, CPU and threads one is unlimited: $limits"
  echo "ok  limits of memory, CPU and threads: $limits"
}

check_answers() {
  expect "cost found from inside the container" 14 "$(cost in_container waystar "${QUERY[@]}")"
  expect "cost found through the published port" 14 "$(cost from_host "${QUERY[@]}")"
  expect "the port is published on" "$SERVER" "$(docker port "$(container)" 7450/tcp)"
}

# check_metrics SERVICE: as Prometheus would get them on the network of the services.
check_metrics() {
  local answer
  answer=$(docker exec "$(compose ps --quiet "$1")" bash -c \
    'exec 3<>/dev/tcp/127.0.0.1/9464 && printf "GET /metrics HTTP/1.0\r\n\r\n" >&3 && cat <&3')
  [[ "$answer" == *'waystar_maps{kind="grid"} '[1-9]* ]] || fail "the metrics of $1 have no sample maps"
  expect "the port of $1's metrics is published on" "" "$(docker port "$(compose ps --quiet "$1")" 9464/tcp 2>/dev/null || true)"
}

check_stop() {
  local began=$SECONDS logs
  docker stop "$(container)" >/dev/null
  echo "ok  stopped after $((SECONDS - began)) s"
  ((SECONDS - began < 10)) || fail "an idle server took too long to stop"
  expect "exit code" 0 "$(property '{{.State.ExitCode}}')"
  logs=$(docker logs "$(container)" 2>&1)
  [[ "$logs" == *event=stopped* ]] || fail "the log does not say event=stopped"
  echo "ok  the log ends with: ${logs##*$'\n'}"
}

has_restarted() { (($(property '{{.RestartCount}}') > 0)); }

has_restarted_twice() { (($(property '{{.RestartCount}}') > 1)); }

# facts_of JSON: what tells one state of a map from another.
facts_of() { grep -oE '"(epoch|revision|digest)": ?"[0-9]+"' <<<"$1"; }

check_restart() {
  docker start "$(container)" >/dev/null
  wait_until 120 "healthy when started again" is_healthy
  kill -9 "$(property '{{.State.Pid}}')"
  wait_until 120 "restarted after kill -9" has_restarted
  wait_until 120 "healthy after kill -9" is_healthy
  expect "cost found after kill -9" 14 "$(cost in_container waystar "${QUERY[@]}")"
}

# Maps and changes that were acknowledged, over kill -9 as over the end of the container. `down` keeps volumes.
check_survival() {
  local before
  quietly in_container waystar map create kept 8x8
  quietly in_container waystar block kept 3,3
  before=$(in_container waystar map show kept --json)
  kill -9 "$(property '{{.State.Pid}}')"
  wait_until 120 "restarted after another kill -9" has_restarted_twice
  wait_until 120 "healthy after another kill -9" is_healthy
  expect "the map after kill -9" "$(facts_of "$before")" "$(facts_of "$(in_container waystar map show kept --json)")"
  quietly compose down
  quietly compose up --detach --no-build
  wait_until 120 "healthy after down and up" is_healthy
  expect "the map after down and up" "$(facts_of "$before")" "$(facts_of "$(in_container waystar map show kept --json)")"
}

check_mounted_maps() {
  quietly compose down --volumes
  install -d -m 755 "$WORK/maps"
  printf '...\n.#.\n...\n' >"$WORK/maps/arena.txt"
  cat >"$WORK/maps.yaml" <<YAML
services:
  waystar:
    volumes: ["$WORK/maps:/maps:ro"]
YAML
  quietly compose --file "$WORK/maps.yaml" up --detach
  wait_until 120 "healthy with mounted maps" is_healthy
  expect "maps served from a mounted folder" arena "$(in_container waystar map list --names)"
}

# Chapter "Two images" of docs/security.md, in a container whose health check has to prove itself like any client.
check_secure() {
  install -d -m 755 "$WORK/secrets"
  quietly openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -days 2 -subj /CN=waystar \
    -addext "subjectAltName=DNS:maps.internal" -keyout "$WORK/secrets/key.pem" -out "$WORK/secrets/cert.pem"
  docker run --rm --entrypoint=waystar waystar token probe 'read:*' >"$WORK/token"
  sed -n 4p "$WORK/token" >"$WORK/secrets/tokens"
  sed -n 2p "$WORK/token" >"$WORK/secrets/token"
  chmod 644 "$WORK"/secrets/*
  cat >"$WORK/secure.yaml" <<YAML
services:
  waystar:
    volumes: ["$WORK/secrets:/run/waystar:ro"]
    environment:
      WAYSTAR_TLS_CERT: /run/waystar/cert.pem
      WAYSTAR_TLS_KEY: /run/waystar/key.pem
      WAYSTAR_TLS_CLIENT_CA: /run/waystar/cert.pem
      WAYSTAR_TOKENS_FILE: /run/waystar/tokens
      WAYSTAR_CA: /run/waystar/cert.pem
      WAYSTAR_CERT: /run/waystar/cert.pem
      WAYSTAR_KEY: /run/waystar/key.pem
      WAYSTAR_SERVER_NAME: maps.internal
      WAYSTAR_TOKEN_FILE: /run/waystar/token
YAML
  quietly compose --file "$WORK/secure.yaml" up --detach
  wait_until 120 "healthy with certificates and tokens" is_healthy
  expect "cost found with certificates and tokens" 14 "$(cost in_container waystar "${QUERY[@]}")"
  if in_container env -u WAYSTAR_CERT -u WAYSTAR_KEY waystar health >>"$WORK/log" 2>&1; then
    fail "a probe without a certificate is answered"
  fi
  echo "ok  a probe without a certificate is not answered"
}

hardened_logs() { docker logs "$(compose ps --quiet hardened)" 2>&1; }

is_hardened_healthy() {
  [[ "$(docker inspect --format '{{.State.Health.Status}}' "$(compose ps --quiet hardened)")" == healthy ]]
}

# With the secrets of check_secure, which it must have to start.
check_hardened() {
  cat >"$WORK/hardened.yaml" <<YAML
services:
  hardened:
    volumes: ["$WORK/secrets:/run/waystar:ro"]
    environment:
      WAYSTAR_SERVER_NAME: maps.internal
YAML
  quietly compose --file "$WORK/hardened.yaml" up --detach --no-build hardened
  wait_until 120 "the hardened image is healthy" is_hardened_healthy
  expect "cost found in the hardened image" 14 \
    "$(cost docker exec -e WAYSTAR_TOKEN_FILE=/run/waystar/token "$(compose ps --quiet hardened)" waystar "${QUERY[@]}")"
  # Prometheus reads the metrics on the network of the services; check_metrics sees that no port is published.
  expect "what the hardened server leaves open besides its metrics" "" \
    "$(hardened_logs | grep open_to_the_network | grep -v 'reaches 0.0.0.0:9464 can read the metrics' || true)"
  expect "the hardened port is published on" "0.0.0.0:7451" \
    "$(docker port "$(compose ps --quiet hardened)" 7450/tcp | head -n 1)"
  check_metrics hardened
}

# are_serving SERVICE...
are_serving() {
  local service
  for service in "$@"; do
    [[ "$(docker inspect --format '{{.State.Health.Status}}' "$(fleet ps --quiet "$service")")" == healthy ]] || return 1
  done
}

check_fleet() {
  local before
  quietly compose down --volumes
  quietly fleet up --detach --no-build
  wait_until 180 "three healthy servers" are_serving waystar-1 waystar-2 waystar-3
  expect "cost found through the proxy" 14 "$(cost from_host "${QUERY[@]}")"
  quietly from_host map create shared 8x8
  quietly from_host block shared 3,3
  before=$(facts_of "$(from_host map show shared --json)")
  # Unlike a process that dies, a container that is killed is not started again.
  docker kill "$(fleet ps --quiet waystar-1)" >/dev/null
  expect "cost found after one server was killed" 14 "$(cost from_host "${QUERY[@]}")"
  expect "the map after one server was killed" "$before" "$(facts_of "$(from_host map show shared --json)")"
  quietly from_host block shared 4,4
  docker start "$(fleet ps --all --quiet waystar-1)" >/dev/null
  wait_until 180 "the killed server is healthy when started again" are_serving waystar-1
  quietly fleet down --volumes
}

main() {
  require_root
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  WORK=$(mktemp --directory)
  export DOCKER_HOST="unix://$WORK/docker.sock" DOCKER_CONFIG="$WORK/config"

  quietly install_missing "${PACKAGES[@]}"
  step "Making the base images"
  start_build_engine
  make_base_image bookworm
  make_base_image sid
  step "Building the image"
  build_image waystar
  step "Building the hardened image"
  build_image waystar:hardened --build-arg IMAGE=hardened
  step "Making the images of etcd and of the proxy"
  make_fleet_images
  stop_engine

  step "Starting the container"
  start_run_engine
  print_sizes
  check_versions
  quietly compose up --detach --no-build
  wait_until 120 "healthy" is_healthy
  echo "ok  healthy"
  check_confinement
  check_answers
  check_metrics waystar
  step "Stopping"
  check_stop
  step "Killing"
  check_restart
  step "Killing, and taking down, with a changed map"
  check_survival
  step "Mounting a folder of maps"
  check_mounted_maps
  step "Securing it"
  check_secure
  step "Hardening it"
  check_hardened
  step "Starting a fleet, and killing one of its servers"
  check_fleet
  step "Passed"
}

main "$@"
