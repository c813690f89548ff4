import type { Flow } from "../types"

/**
 * The newest flows up to a number. Each has an index that stays the same while others come and go: the first one that came
 * live has 0, newer ones more, older ones less.
 */
export class FlowRing {
  private slots: (Flow | undefined)[] = []
  /** The index of the oldest one. */
  first = 0
  /** The index that the next new one gets. */
  end = 0

  constructor(readonly capacity: number) {}

  get count(): number {
    return this.end - this.first
  }

  get isFull(): boolean {
    return this.count >= this.capacity
  }

  private slot(index: number): number {
    return ((index % this.capacity) + this.capacity) % this.capacity
  }

  at(index: number): Flow | undefined {
    return index >= this.first && index < this.end ? this.slots[this.slot(index)] : undefined
  }

  /** Adds a newer flow; the oldest makes room. */
  push(flow: Flow): void {
    if (this.isFull) this.first += 1
    this.slots[this.slot(this.end)] = flow
    this.end += 1
  }

  /** Adds older flows, the newest of them first, as far as there is room. */
  addOlder(flows: Flow[]): void {
    for (const flow of flows) {
      if (this.isFull) return
      this.first -= 1
      this.slots[this.slot(this.first)] = flow
    }
  }

  clear(): void {
    this.slots = []
    this.first = this.end
  }

  indexOf(id: string): number | null {
    for (let index = this.end - 1; index >= this.first; index -= 1) {
      if (this.slots[this.slot(index)]?.id === id) return index
    }
    return null
  }
}
