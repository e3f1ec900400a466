#include "server/formats/detect/foreign_file.h"

#include <array>
#include <cstddef>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/file_errors.h"

namespace waystar::core {
namespace {

struct FileKind {
  // Bytes at offset `at`.
  absl::string_view magic;
  absl::string_view name;
  absl::string_view advice;
  // The supported format of such files, if any.
  std::optional<MapFormat> format = std::nullopt;
  std::size_t at = 0;
};

constexpr absl::string_view kUnpack = "unpack it first";
constexpr absl::string_view kExport = "export its level in a format that is read";
constexpr absl::string_view kSwap = "save it on a machine with little-endian numbers";

template <std::size_t N>
constexpr absl::string_view Bytes(const char (&bytes)[N]) {
  return {bytes, N - 1};
}

// Each magic has bytes that text cannot have, or more letters than a map row has by chance.
constexpr std::array kKinds = {
    FileKind{Bytes("\x1F\x8B"), "compressed by gzip", kUnpack},
    FileKind{Bytes("PK\x03\x04"), "a ZIP archive", kUnpack},
    FileKind{Bytes("PK\x05\x06"), "a ZIP archive without files", kUnpack},
    FileKind{Bytes("\x28\xB5\x2F\xFD"), "compressed by Zstandard", kUnpack},
    FileKind{Bytes("\xFD\x37zXZ\0"), "compressed by xz", kUnpack},
    FileKind{Bytes("7z\xBC\xAF\x27\x1C"), "an archive of 7-Zip", kUnpack},
    FileKind{Bytes("\x04\x22\x4D\x18"), "compressed by LZ4", kUnpack},
    FileKind{Bytes("Rar!\x1A\x07"), "a RAR archive", kUnpack},
    FileKind{.magic = Bytes("1AY&SY"), .name = "compressed by bzip2", .advice = kUnpack, .at = 4},
    FileKind{.magic = Bytes("ustar\0"), .name = "a tar archive", .advice = kUnpack, .at = 257},
    FileKind{.magic = Bytes("ustar  \0"), .name = "a tar archive", .advice = kUnpack, .at = 257},
    FileKind{"version https://git-lfs.github.com/spec/", "a pointer of Git LFS, not the file itself",
             "fetch that (git lfs pull)"},
    FileKind{Bytes("MSET\0\0\0"), "a set of tiles of Detour with big-endian numbers", kSwap},
    FileKind{Bytes("TSET\0\0\0"), "a tile cache of Detour with big-endian numbers", kSwap},
    FileKind{Bytes("DNAV\0\0\0"), "a tile of Detour with big-endian numbers", kSwap},
    FileKind{Bytes("MMAP\0\0\0"), "a map of an emulator with big-endian numbers", kSwap},
    FileKind{Bytes("\xFF\xD8\xFF"), "a JPEG picture", "save it as PNG"},
    FileKind{Bytes("Kaydara FBX Binary"), "a scene in FBX", kExport},
    FileKind{Bytes("BLENDER-v"), "a scene of Blender", kExport},
    FileKind{Bytes("BLENDER_v"), "a scene of Blender", kExport},
    FileKind{Bytes("UnityFS\0"), "a bundle of Unity", kExport},
    FileKind{Bytes("\xC1\x83\x2A\x9E"), "a package of Unreal", kExport},
    FileKind{Bytes("%PDF-"), "a PDF document", kExport},
    FileKind{Bytes("\x7F"
                   "ELF"),
             "a program", kExport},
    FileKind{Bytes("\x89PNG"), "a PNG picture", "", MapFormat::kImage},
    FileKind{Bytes("GIF87a"), "a GIF picture", "", MapFormat::kImage},
    FileKind{Bytes("GIF89a"), "a GIF picture", "", MapFormat::kImage},
    FileKind{Bytes("WEBPVP8"), "a WebP picture", "", MapFormat::kImage, 8},
    FileKind{Bytes("glTF\x02\0\0\0"), "a level in binary glTF", "", MapFormat::kGltf},
};

}  // namespace

absl::Status CheckFileKind(MapFormat format, absl::string_view bytes) {
  for (const FileKind& kind : kKinds) {
    if (kind.format != format && bytes.size() >= kind.at &&
        absl::StartsWith(bytes.substr(kind.at), kind.magic)) {
      return BadFormat(
          absl::StrCat("the file is ", kind.name, ": ",
                       kind.format ? "it is not in the format that it is to be read in" : kind.advice));
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
