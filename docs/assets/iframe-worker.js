// Browsers start no worker on a page that was opened as a file. There, the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inner = frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.frame = inner;
      this.ready = new Promise((resolve, reject) => {
        const element = inner.document.createElement("script");
        element.src = script;
        element.onload = resolve;
        element.onerror = reject;
        inner.document.body.appendChild(element);
      });
    }

    async postMessage(data) {
      await this.ready;
      this.frame.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
