#!/usr/bin/env bash
# test.sh BIN: compiles the package and its tests with Mono, and runs them against servers of the folder BIN.
set -euo pipefail
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
ROOT="$(cd "$HERE/../.." && pwd)"
BIN="$(cd "$1" && pwd)"
TESTS="$ROOT/tests/clients/csharp"
BUILD="$ROOT/build/clients/csharp"
for program in mcs mono protoc python3 openssl; do
  if ! command -v "$program" >/dev/null; then
    echo "skipped: no $program on the PATH"
    exit 77
  fi
done

"$HERE/build.sh" "$BUILD"
# It knows C# up to 7.2, which is less than the package may use.
compile() {
  mcs -nologo -langversion:7.2 -warnaserror -nowarn:649 -debug -r:System.Net.Http "$@"
}
compile -target:library -out:"$BUILD/Waystar.dll" "$BUILD"/package/Runtime/*.cs
compile -out:"$BUILD/game_loop.exe" -r:"$BUILD/Waystar.dll" "$ROOT/client/examples/csharp/game_loop.cs"
compile -out:"$BUILD/tests.exe" -r:"$BUILD/Waystar.dll" "$TESTS"/*Tests.cs "$TESTS/Server.cs"
compile -out:"$BUILD/overhead.exe" -r:"$BUILD/Waystar.dll" "$TESTS/Overhead.cs"
# What is for Unity is compiled alone, against the names that it uses.
compile -target:library -define:UNITY_2019_4_OR_NEWER -out:"$BUILD/Unity.dll" "$TESTS/UnityNames.cs" \
  "$BUILD"/package/Runtime/*.cs "$BUILD"/package/Samples~/Walker/*.cs
compile -target:library -out:"$BUILD/UnityEditor.dll" -r:"$BUILD/Waystar.dll" "$TESTS/UnityEditorNames.cs" \
  "$BUILD"/package/Editor/*.cs

WORK="$(mktemp -d)"
trap 'rm -rf "$WORK"' EXIT
export GAME_LOOP="$BUILD/game_loop.exe"
timeout 120 mono --debug "$BUILD/tests.exe" "$BIN" "$ROOT/server/samples" "$WORK" "${@:2}"
if [[ -n "${WAYSTAR_OVERHEAD:-}" ]]; then
  "$TESTS/../overhead.py" "$BIN" csharp "mono $BUILD/overhead.exe" "mono $GAME_LOOP"
fi
