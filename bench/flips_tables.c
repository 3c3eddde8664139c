/* The contender of significance.py: sums of sign flips by tables of 256 subset sums, as one writes them at first; the
   compiler makes the vectors. sums: flips × columns; flipped: how many queries each flip has flipped. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t splitmix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

void flips(const int64_t *values, int64_t n, int64_t columns, uint64_t seed, int64_t first, int64_t last, int64_t *sums,
           int64_t *flipped) {
  const int64_t m = last - first;
  memset(sums, 0, sizeof(int64_t) * m * columns);
  memset(flipped, 0, sizeof(int64_t) * m);
  int64_t *table = aligned_alloc(64, (sizeof(int64_t) * 256 * columns + 63) / 64 * 64);
  uint64_t *words = malloc(sizeof(uint64_t) * m);
  for (int64_t block = 0; block * 64 < n; block++) {
    const int64_t left = n - block * 64;
    const uint64_t mask = left >= 64 ? ~0ull : (1ull << left) - 1;
    const uint64_t base = splitmix64(seed + 0x9E3779B97F4A7C15ull * ((uint64_t)block + 1));
    for (int64_t b = 0; b < m; b++) {
      words[b] = splitmix64(base + 0x9E3779B97F4A7C15ull * ((uint64_t)(first + b) + 1)) & mask;
      flipped[b] += __builtin_popcountll(words[b]);
    }
    for (int g = 0; g < 8 && g * 8 < left; g++) {
      const int64_t row = block * 64 + g * 8;
      memset(table, 0, sizeof(int64_t) * columns);
      for (int r = 0; r < 8 && row + r < n; r++)
        for (int e = 0; e < 1 << r; e++)
          for (int64_t j = 0; j < columns; j++)
            table[(e | 1 << r) * columns + j] = table[e * columns + j] + values[(row + r) * columns + j];
      for (int64_t b = 0; b < m; b++) {
        const int64_t *entry = table + (words[b] >> (8 * g) & 255) * columns;
        for (int64_t j = 0; j < columns; j++) sums[b * columns + j] += entry[j];
      }
    }
  }
  free(table);
  free(words);
}
