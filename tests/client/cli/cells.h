#pragma once

#include "waystar/v1/types.pb.h"

namespace waystar::testing {

inline v1::Cell At(int x, int y) {
  v1::Cell cell;
  cell.set_x(x);
  cell.set_y(y);
  return cell;
}

}  // namespace waystar::testing
