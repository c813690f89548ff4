// A step-up that waits for a person.

/** One step-up that waits; a test answers or denies it in the place of the person. */
export class Pending {
  #control

  constructor(control, transaction) {
    this.#control = control
    this.transaction = transaction
    this.id = transaction.id
    this.callbacks = transaction.callbacks
  }

  toString() {
    const asked = this.callbacks.map(one => `${one.type} “${one.prompt}”`).join(', ')
    return `step-up ${this.id} for ${this.transaction.resource}: ${asked || this.transaction.kind}`
  }

  /**
   * Answers its callbacks. A list answers them in their order. In an object, a name is a callback's type (`name` for
   * NameCallback) or a word of its prompt; with one open callback, any name fits. `link` gives the link that a mail would bring.
   */
  async answer(answers) {
    const body = answers.link === undefined ? { answers: this.#places(answers) } : { link: answers.link }
    await this.#control.ask('POST', `/v1/transactions/${encodeURIComponent(this.id)}/answer`, { body })
  }

  /** Refuses the step-up. The app gets the original response. */
  async deny() {
    await this.#control.ask('POST', `/v1/transactions/${encodeURIComponent(this.id)}/deny`)
  }

  #places(answers) {
    let open = [...this.callbacks]
    if (Array.isArray(answers)) {
      if (answers.length > open.length) throw new TypeError(`${answers.length} answers for ${open.length} callbacks of ${this}`)
      return answers.map((value, place) => ({ callback: open[place].index, value }))
    }
    return Object.entries(answers).map(([name, value]) => {
      const callback = this.#fitting(name, open)
      open = open.filter(one => one !== callback)
      return { callback: callback.index, value }
    })
  }

  #fitting(name, open) {
    const word = name.toLowerCase()
    const typed = open.filter(one => [word, `${word}callback`].includes(one.type.toLowerCase()))
    const prompted = open.filter(one => one.prompt.replaceAll(' ', '').toLowerCase().includes(word))
    const fitting = [typed, prompted, open].find(list => list.length === 1)
    if (!fitting) throw new TypeError(`${name} fits ${(typed.length || prompted.length)} callbacks of ${this}`)
    return fitting[0]
  }
}
