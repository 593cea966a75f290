"""OpenMM: 200 steps of 512 argon atoms in a box. Writes positions and energies to the file that is given."""

import sys

import numpy as np
import openmm
from openmm import unit

system, n, side = openmm.System(), 8, 3.2
force = openmm.NonbondedForce()
force.setNonbondedMethod(openmm.NonbondedForce.CutoffPeriodic)
force.setCutoffDistance(1.0)
positions = []
for i in range(n ** 3):
    system.addParticle(39.948)
    force.addParticle(0, 0.34, 0.99)
    positions.append([(i // n ** k % n) * side / n for k in range(3)])
system.addForce(force)
system.setDefaultPeriodicBoxVectors((side, 0, 0), (0, side, 0), (0, 0, side))
platform = openmm.Platform.getPlatformByName("OpenCL")
integrator = openmm.VerletIntegrator(0.002)
context = openmm.Context(system, integrator, platform, {"DeviceIndex": "0", "OpenCLPlatformIndex": "0"})
context.setPositions(positions)
context.setVelocities([[np.sin(i), np.cos(2 * i), np.sin(3 * i)] for i in range(n ** 3)])
with open(sys.argv[1], "wb") as file:
    for _ in range(4):
        integrator.step(50)
        state = context.getState(getPositions=True, getEnergy=True)
        file.write(np.asarray(state.getPositions(asNumpy=True) / unit.nanometer).tobytes())
        energy = state.getPotentialEnergy() / unit.kilojoule_per_mole
        print(f"{energy:.0f}")
