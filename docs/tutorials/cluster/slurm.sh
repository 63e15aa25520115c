#!/bin/bash
#SBATCH --array=0-2
#SBATCH --time=00:30:00
#SBATCH --signal=B:USR1@60
exec valmatch replicate valorant-x10 -n 1500 --resume --max-time 25m --out study
