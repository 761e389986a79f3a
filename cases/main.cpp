#include "cases/commands/program.hpp"

int main(int argc, char** argv) {
  return rankcheck::cases::run_program(argc, argv);
}
