#!/bin/bash
# A library's own tests on virtual ConnectX, as a job of Slurm: two processes on one node that has a
# GPU and need not have a NIC. sbatch configs/ci/slurm.sh ./my_test
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --gpus=1
#SBATCH --time=00:10:00
export CUDA_MODULE_LOADING=EAGER NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 NVSHMEM_DISABLE_P2P=1
# Inside of one `ringpost exec`, so that both processes are on one fabric.
ringpost exec --config "${RINGPOST_CONFIG:-configs/ci/virtual_connectx.yaml}" -- srun --overlap "$@"
