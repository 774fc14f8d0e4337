// The agent's kernel as an image: agent_image.h.
#include "transport/memory/agent_kernel.cuh"
