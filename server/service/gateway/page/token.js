// The token of a server that asks for one. The browser keeps it as long as the tab is open.

const KEY = "waystar-token";
const element = (id) => document.getElementById(id);

// Settled when a token has been entered; null while nobody asks for one.
let entering = null;

export function authorization() {
  const token = sessionStorage.getItem(KEY);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

// Asks for a token once, however many calls were refused without: each guess counts against this address. `sent` is
// what authorization() gave the refused call. If another token was entered since, it is for the caller to try that.
export function enterToken(sent, problem) {
  if (!entering && sent.Authorization !== authorization().Authorization) {
    return Promise.resolve();
  }
  entering ??= new Promise((resolve) => {
    const dialog = element("token");
    const form = element("token-form");
    const field = element("token-field");
    // Without a token there is nothing to see: Escape does not end the question.
    dialog.onclose = () => dialog.showModal();
    form.onsubmit = (event) => {
      // The page sends no forms, and the policy of its content forbids it.
      event.preventDefault();
      sessionStorage.setItem(KEY, field.value.trim());
      field.value = "";
      dialog.onclose = null;
      dialog.close();
      entering = null;
      resolve();
    };
    // Why a token was refused; that there was none the dialog says itself.
    element("token-problem").textContent = sent.Authorization ? problem : "";
    dialog.showModal();
  });
  return entering;
}
