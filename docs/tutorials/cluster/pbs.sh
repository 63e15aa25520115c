#!/bin/bash
#PBS -J 0-2
#PBS -l walltime=00:30:00
cd "${PBS_O_WORKDIR:-.}"
exec valmatch replicate valorant-x10 -n 1500 --resume --max-time 25m \
  --shard $PBS_ARRAY_INDEX/3 --out study
