#!/bin/sh
# Rosenbrock's function as a Dakota driver: $1 has lines `value name`, $2 gets `value name`, or `fail`.
awk '
  $2 == "x1" { x1 = $1 }
  $2 == "x2" { x2 = $1 }
  END {
    if (x1 < -1.9) { print "fail"; exit }
    printf "%.17g f\n", 100 * (x2 - x1 * x1)^2 + (1 - x1)^2
  }' "$1" > "$2"
