#pragma once

#include <string>
#include <vector>

namespace muster {

// A curve for people: values over x, with marks. Texts may hold bytes from outside: renderers
// escape them. NaN is a gap.
struct Plot {
  struct Mark {
    double x = 0;
    std::string text;  // "restart", "slower"
  };
  std::string title, x_name, y_name;
  std::vector<double> x, y;  // x rises
  std::vector<Mark> marks;
};

}  // namespace muster
