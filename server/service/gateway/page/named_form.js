// The form for an obstacle or a portal: for one that is chosen from the map's, or for new ones.

const element = (id) => document.getElementById(id);
const section = element("edit");
const choice = element("edit-choice");

const SENTENCES = {
  Obstacle: "Drag on the map to put an obstacle; drag one to move it, or its handles to reshape it.",
  Portal: "Press the two ends of a new portal on the map, or choose one.",
};

export class NamedForm {
  // `events` has choose(id), apply() and remove().
  constructor(events) {
    choice.addEventListener("change", () => events.choose(choice.value));
    element("edit-remove").addEventListener("click", () => events.remove());
    element("edit-form").addEventListener("submit", (event) => {
      // The page sends no forms, and the policy of its content forbids it.
      event.preventDefault();
      events.apply();
    });
  }

  get isDisc() {
    return element("edit-shape").value === "disc";
  }

  // Returns the values of the form as fields of the contract. A field that is empty, or that this map does not have, is
  // unset.
  values(kind) {
    const field = (name) => element(`edit-${name}`);
    const text = (name) => (!field(name).disabled && field(name).value.trim()) || undefined;
    const id = text("id");
    if (kind === "Portal") {
      return { id, cost: text("cost"), tags: text("tags")?.split(/[\s,]+/), bothWays: field("both").checked };
    }
    const lifetime = text("lifetime") && `${text("lifetime")}s`;
    return { id, lifetime, costFactor: text("factor"), costAddition: undefined, falloff: undefined };
  }

  // `kind` is "Obstacle", "Portal" or undefined; `all` are those of the map, and `chosen` is one of them or undefined.
  show(kind, all, chosen, model, sentence) {
    section.hidden = !kind || !model;
    if (section.hidden) {
      return;
    }
    element("edit-title").textContent = `${kind}s`;
    element("edit-text").textContent = sentence || SENTENCES[kind];
    section.querySelectorAll("[data-for]").forEach((each) => (each.hidden = each.dataset.for !== kind));
    element("edit-factor").disabled = !model.cells;
    ["edit-apply", "edit-remove"].forEach((id) => (element(id).disabled = !chosen));
    const names = all.map(({ id, text = id }) => [text, id]);
    if (JSON.stringify(names) !== choice.dataset.names) {
      choice.dataset.names = JSON.stringify(names);
      choice.replaceChildren(new Option("new", ""), ...names.map((each) => new Option(...each)));
    }
    choice.value = chosen?.id ?? "";
    this.#fill(chosen?.source ?? {});
  }

  // Unless it shows that already: what is typed there stays.
  #fill({ shape, lifetime, ...source }) {
    const content = JSON.stringify(source);
    if (content === section.dataset.content) {
      return;
    }
    section.dataset.content = content;
    const seconds = lifetime && Math.ceil(parseFloat(lifetime));
    const fields = { id: source.id, lifetime: seconds, factor: source.costFactor, cost: source.cost, tags: source.tags };
    Object.entries(fields).forEach(([name, value]) => (element(`edit-${name}`).value = value ?? ""));
    element("edit-both").checked = source.bothWays ?? false;
  }
}
