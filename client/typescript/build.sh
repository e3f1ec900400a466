#!/usr/bin/env bash
# build.sh OUT: makes the package, waystar-client-VERSION.tgz, in folder OUT. Downloads and generated code go to
# build/clients/typescript in the root of the repository. Exits 77 without Node 20.3, npm, protoc or the packages that it
# needs.
set -euo pipefail
for program in node npm protoc; do
  if ! command -v "$program" >/dev/null; then
    echo "skipped: no $program on the PATH"
    exit 77
  fi
done
if ! node -e 'process.exit(AbortSignal.any ? 0 : 1)'; then
  echo "skipped: $(node --version) is older than Node 20.3"
  exit 77
fi
mkdir -p "${1:?give the folder for the package, as in build.sh OUT}"
OUT="$(cd "$1" && pwd)"
cd "$(dirname "${BASH_SOURCE[0]}")"
HERE="$PWD"
ROOT="$(cd ../.. && pwd)"
mkdir -p "$ROOT/build/clients/typescript"
cd "$ROOT/build/clients/typescript"

rm -rf src dist
cp -r "$HERE"/{src,package.json,package-lock.json,tsconfig.json,README.md} .
if ! cmp -s package-lock.json node_modules/installed; then
  if ! timeout 120 npm ci --ignore-scripts --no-audit --no-fund --silent; then
    echo "skipped: the packages that it needs cannot be fetched"
    exit 77
  fi
  cp package-lock.json node_modules/installed
fi
mkdir -p dist/gen
protoc -I "$ROOT/proto" -I "$ROOT/proto/third_party" --plugin=node_modules/.bin/protoc-gen-es \
  --es_out=dist/gen --es_opt=target=js+dts,import_extension=js \
  waystar/v1/{path_service,map_service,picture_service,server_service,types,error_reason}.proto \
  google/rpc/{error_details,status}.proto grpc/health/v1/health.proto
node_modules/.bin/tsc
npm pack --silent --pack-destination "$OUT" >/dev/null
