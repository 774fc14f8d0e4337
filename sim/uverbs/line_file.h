// line_file.h: a file that lines are appended to, of the name that a variable of the environment
// has.
//
// It is opened for each line: a descriptor that stayed open would be one that the program does not
// know of, and may close, as many do with all they have not opened, and get again for a file of its
// own. Any thread may call; errno is left as it is.
#pragma once

#include <string>

namespace ringpost::sim::uverbs {

class LineFile {
 public:
  // Of the folder that the process is in now, where the name is not from the root.
  explicit LineFile(const char* variable);
  // Whether there is such a variable.
  bool On() const { return !path_.empty(); }
  // Why nothing can be appended, in one line; empty where it can be, or is off.
  std::string WhyNot() const;
  // By one write, so that lines of several processes stay whole. A line that cannot be written is
  // lost.
  void Append(const std::string& line) const;

 private:
  int Open() const;

  std::string variable_;
  std::string path_;
};

}  // namespace ringpost::sim::uverbs
