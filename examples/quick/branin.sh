#!/bin/sh
# The Branin function of the two inputs, which tribo puts into the environment.
awk -v x="$TRIBO_X_X" -v y="$TRIBO_X_Y" 'BEGIN {
  pi = atan2(0, -1)
  value = (y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6)^2 + 10 * (1 - 1 / (8 * pi)) * cos(x) + 10
  printf "%.17g\n", value
}'
