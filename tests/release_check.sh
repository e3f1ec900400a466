#!/usr/bin/env bash
# What is run before a release, one step after the other, each no longer than it is said to take at most. A step that
# fails does not keep the others from running. Arguments name the steps to run, of all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly LOGS=build/release-check
# Each with its limit in minutes.
readonly STEPS=(debian12 debian13 modern package arm64 chart clients page docker-test analyze asan tsan fleet attack oracle fuzz soak)
declare -rA MINUTES=(
  [debian12]=60 [debian13]=60 [modern]=60 [package]=30 [arm64]=60 [chart]=30 [clients]=15 [page]=30 [docker-test]=90
  [analyze]=60 [asan]=60 [tsan]=60 [fleet]=30 [attack]=30 [oracle]=60 [fuzz]=75 [soak]=60
)
declare -rA COMMANDS=(
  [debian12]="./dev distribution-test bookworm"
  [debian13]="./dev distribution-test trixie"
  [modern]="./dev distribution-test modern"
  [package]="./dev package-test"
  [arm64]="./dev arm64"
  [chart]="./dev chart-test"
  [clients]="./dev clients"
  [page]="./dev page-pictures"
  [docker-test]="./dev docker-test"
  [analyze]="./dev analyze"
  [asan]="./dev asan"
  [tsan]="./dev tsan"
  [fleet]="./dev cluster-test"
  [attack]="./dev attack"
  [oracle]="./dev oracle 100000"
  [fuzz]="./dev fuzz all 120"
  [soak]="./dev soak --minutes=30"
)
SUMMARY=()
FAILED=0
RUNNING=

# stop CODE: interrupted, it stops with the step that runs.
stop() {
  trap - INT TERM
  if [[ "$RUNNING" ]] && kill "$RUNNING" 2>/dev/null; then
    wait "$RUNNING" || true
  fi
  exit "$1"
}

# run_step NAME: its output goes to a file, of which the end is shown if it fails.
run_step() {
  local name=$1 log="$LOGS/$1.log" began=$SECONDS code=0 outcome=passed words
  echo "== $name: ${COMMANDS[$name]}, at most ${MINUTES[$name]} minutes; output in $log"
  read -ra words <<<"${COMMANDS[$name]}"
  timeout --kill-after=60 "${MINUTES[$name]}m" "${words[@]}" >"$log" 2>&1 </dev/null &
  RUNNING=$!
  wait "$RUNNING" || code=$?
  if ((code == 124 || code == 137)); then
    outcome="FAILED: not done after ${MINUTES[$name]} minutes"
  elif ((code != 0)); then
    outcome="FAILED with $code"
  fi
  if ((code != 0)); then
    FAILED=1
    tail -n 20 "$log"
  fi
  SUMMARY+=("$(printf '%-12s %s, after %d min %02d s' "$name" "$outcome" $(((SECONDS - began) / 60)) $(((SECONDS - began) % 60)))")
  echo "${SUMMARY[-1]}"
}

main() {
  local steps=("$@") step
  if ((${#steps[@]} == 0)); then
    steps=("${STEPS[@]}")
  fi
  for step in "${steps[@]}"; do
    if [[ -z "${MINUTES[$step]:-}" ]]; then
      echo "There is no step \"$step\". The steps are: ${STEPS[*]}" >&2
      exit 2
    fi
  done
  if ((EUID != 0)); then
    echo "Some of the steps change their root folder or start an engine, so this must be run as root." >&2
    exit 1
  fi
  mkdir -p "$LOGS"
  for step in "${steps[@]}"; do
    run_step "$step"
  done
  echo
  printf '%s\n' "Summary of $(sed -nE 's/^project\(waystar VERSION ([0-9.]+).*/\1/p' CMakeLists.txt):" "${SUMMARY[@]}"
  return "$FAILED"
}

trap 'stop 130' INT
trap 'stop 143' TERM
main "$@"
