#include "transport/memory/agent_image.h"

namespace ringpost {

const unsigned char kAgentImage[] = {0};
const size_t kAgentImageBytes = sizeof(kAgentImage);

}  // namespace ringpost
