#!/bin/bash
#$ -t 1-3
#$ -l h_rt=00:30:00
exec valmatch replicate valorant-x10 -n 1500 --resume --max-time 25m \
  --out shards/$((SGE_TASK_ID - 1))
