// huge_heap.h: the heap of a program that simulates, on huge pages.
//
// A simulation walks over many small objects in no order (messages, packets, parked threads): with
// pages of 4 KiB the host spends a tenth of its time on looking up where they are.
#pragma once

namespace ringpost::tools {

// Asks that the heap grows in steps so large that they hold huge pages, and marks the first step
// for them. Call it once, before other threads allocate. A wish: where the system has no huge pages
// or another allocator is in use, all works as before. Memory that is not touched costs nothing.
void UseHugePagesForHeap();

}  // namespace ringpost::tools
