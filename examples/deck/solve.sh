#!/bin/sh
# A stand-in for a solver: reads a deck, writes beam.log.
awk '
  /^#/ { next }
  { value[$1] = $2 }
  END {
    modulus = value["material"] == "steel" ? 210000 : 70000       # MPa
    density = value["material"] == "steel" ? 7.85e-6 : 2.70e-6    # kg/mm3
    inertia = value["width"] * value["height"]^3 / 12
    bend = value["force"] * value["length"]^3 / (3 * modulus * inertia)
    mass = density * value["width"] * value["height"] * value["length"]
    penalty = bend > 2 ? 10 * (bend - 2) : 0
    printf "deflection = %.6g mm\nmass = %.10g kg\npenalised mass = %.10g kg\n", bend, mass, mass + penalty
  }' "$1" > beam.log
