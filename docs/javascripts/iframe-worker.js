// Search without a server: browsers refuse workers to pages that were opened as files, so a hidden frame does the work.
// The theme's search knows a worker that runs in a frame by the name `IFrameWorker` of its parent.
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(address) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.documentElement.append(frame)
      const inside = frame.contentWindow
      inside.document.open()
      inside.document.write("<!doctype html><title>search</title>")
      inside.document.close()
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      inside.importScripts = (...addresses) =>
        addresses.reduce((before, next) => before.then(() => load(inside.document, next)), Promise.resolve())
      this.inside = inside
      this.ready = load(inside.document, address)
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
    }

    terminate() {
      this.inside.frameElement.remove()
    }
  }

  const load = (page, address) =>
    new Promise((done, failed) => {
      const script = page.createElement("script")
      script.src = String(address)
      script.onload = done
      script.onerror = failed
      page.head.append(script)
    })

  window.IFrameWorker = IFrameWorker
  window.Worker = IFrameWorker
}
