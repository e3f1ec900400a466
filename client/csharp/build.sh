#!/usr/bin/env bash
# build.sh OUT: generates the messages, and makes the package in the folder OUT: as a folder, for "Add package
# from disk" in Unity, and as a file, for "Add package from tarball". OUT/Grpc is a project of .NET for services.
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
ROOT="$HERE/../.."
mkdir -p "${1:?give the folder for the package, as in build.sh OUT}"
OUT="$(cd "$1" && pwd)"

rm -rf "$OUT/package"
mkdir -p "$OUT/package"
cp -R "$HERE/package.json" "$HERE/README.md" "$HERE/Runtime" "$HERE/Editor" "$HERE/Samples~" "$OUT/package"
protoc -I "$ROOT/proto" -I "$ROOT/proto/third_party" --include_imports --include_source_info \
  --descriptor_set_out="$OUT/descriptors" "$ROOT"/proto/waystar/v1/*.proto
python3 "$HERE/generate.py" "$OUT/descriptors" "$ROOT/client/service_config.json" "$OUT/package/Runtime/Messages.cs"
version="$(sed -n 's/^project(waystar VERSION \([0-9.]*\).*/\1/p' "$ROOT/CMakeLists.txt")"
sed -i "s/\"version\": \".*\"/\"version\": \"$version\"/" "$OUT/package/package.json"
# Unity ignores what has no .meta in a package that it may not write to. An id must never change.
cd "$OUT/package"
find . -mindepth 1 ! -path '*~*' | while read -r path; do
  printf 'fileFormatVersion: 2\nguid: %s\n' "$(printf 'waystar%s' "$path" | md5sum | cut -c1-32)" >"$path.meta"
done
cd ..
tar -czf "dev.waystar.client-$version.tgz" package
# The messages of gRPC have the names of those of the client, so they get another namespace.
rm -rf Grpc
cp -R "$HERE/Grpc" Grpc
cp -R "$ROOT/proto/third_party" Grpc/protos
cp -R "$ROOT/proto/waystar" Grpc/protos
sed -i '/^package /a option csharp_namespace = "Waystar.Protos";' Grpc/protos/waystar/v1/*.proto
