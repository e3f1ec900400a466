#include "client/cli/arguments.h"

#include <algorithm>

#include "client/cli/completion/command_tree.h"
#include "client/cli/shape_argument.h"

namespace waystar::cli {

CLI::Option* AddTexts(CLI::App& command, const std::string& name,
                      const std::function<void(const std::string&)>& accept, const std::string& description) {
  const auto set = [accept](const std::vector<std::string>& texts) {
    std::for_each(texts.begin(), texts.end(), accept);
  };
  return command.add_option_function<std::vector<std::string>>(name, set, description);
}

CLI::Option* AddMap(CLI::App& command, std::string& map) {
  return command.add_option("MAP", map, "The map's name")->required()->type_name(kMapType);
}

void AddHexLayout(CLI::App& command, const std::string& name,
                  const std::function<void(v1::HexLayout)>& accept, const std::string& text) {
  AddChoice<v1::HexLayout>(command, name, accept,
                           {{"axial-pointy", v1::HEX_LAYOUT_AXIAL_POINTY},
                            {"axial-flat", v1::HEX_LAYOUT_AXIAL_FLAT},
                            {"odd-rows", v1::HEX_LAYOUT_ODD_ROWS},
                            {"even-rows", v1::HEX_LAYOUT_EVEN_ROWS},
                            {"odd-columns", v1::HEX_LAYOUT_ODD_COLUMNS},
                            {"even-columns", v1::HEX_LAYOUT_EVEN_COLUMNS}},
                           text);
}

void AddGridOptions(CLI::App& command, v1::GridOptions& grid) {
  AddChoice<v1::Connectivity>(
      command, "--connectivity",
      [&grid](v1::Connectivity connectivity) { grid.mutable_squares()->set_connectivity(connectivity); },
      {{"4", v1::CONNECTIVITY_FOUR}, {"8", v1::CONNECTIVITY_EIGHT}},
      "How many neighbours a cell has [what the file says, else 8]");
  AddHexLayout(
      command, "--hexagons", [&grid](v1::HexLayout layout) { grid.mutable_hexagons()->set_layout(layout); },
      "Make a map of hexagons: a board of columns and rows, of which every other row (with a corner on top) "
      "or column (with a side on top) is shifted, or an axial plane");
  AddValue<double>(
      command, "--diagonal-cost", [&grid](double cost) { grid.mutable_squares()->set_diagonal_cost(cost); },
      "What a diagonal step costs, where a straight one costs 1: from 1 to 2 [the square root of 2]", "COST");
  command.get_option("--hexagons")->excludes("--connectivity", "--diagonal-cost");
  AddParsedList(
      command, "--terrain", &ParseTerrain,
      [&grid](const v1::Terrain& terrain) { *grid.add_terrains() = terrain; },
      "A kind of ground, SYMBOL=NAME:COST, such as '~=river:3' or '^=mountain:impassable'; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TERRAIN");
}

}  // namespace waystar::cli
