/* Which of the mutants in a build acts, and which were come by: rankgain_mutants.py in C. */
#ifndef RANKGAIN_MUTANTS_H
#define RANKGAIN_MUTANTS_H
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

static int *rankgain_board;

__attribute__((constructor)) static void rankgain_open_board(void) {
  const char *path = getenv("RANKGAIN_MUTANTS");
  struct stat found;
  int file = path ? open(path, O_RDWR) : -1;
  if (file < 0 || fstat(file, &found)) return;
  void *board = mmap(NULL, (size_t)found.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (board != MAP_FAILED) rankgain_board = board;
}

static inline int rankgain_mutant(int number) {
  if (!rankgain_board) return 0;
  rankgain_board[number] = 1;
  return rankgain_board[0] == number;
}
#endif
