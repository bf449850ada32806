// BEGIN PMEM - `pmem setup opencode --remove` takes these lines away
import { execFile } from "node:child_process"

const TOOLS = {
  read: "Read", edit: "Edit", write: "Write", bash: "Bash", apply_patch: "apply_patch",
}
const called = (tool, args) => ({
  tool_name: TOOLS[tool],
  tool_input: {
    ...args, file_path: args.filePath, old_string: args.oldString, patch: args.patchText,
  },
})

export const Pmem = async ({ directory }) => {
  const begun = new Map()
  const hook = (event, session_id, more) => new Promise((resolve) => {
    const words = ["hook", event, "--harness", "opencode"]
    const options = { cwd: directory, timeout: 10000 }
    const child = execFile("pmem", words, options, (_, said) => {
      try { resolve(JSON.parse(said).hookSpecificOutput ?? {}) } catch { resolve({}) }
    })
    child.stdin.on("error", () => {}) // it is not installed, or ended: then nothing is said
    child.stdin.end(JSON.stringify({ session_id, cwd: directory, ...more }))
  })
  return {
    event: async ({ event: { type, properties } }) => {
      if (type === "session.created") begun.set(properties.info.id, "startup")
      if (type === "session.compacted") begun.set(properties.sessionID, "compact")
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const said = parts.filter(({ type, synthetic }) => type === "text" && !synthetic)
      const prompt = said.map(({ text }) => text).join("\n").replace(/^"(.*)"$/s, "$1")
      const source = begun.get(sessionID)
      begun.delete(sessionID)
      const told = source ? [await hook("session-start", sessionID, { source })] : []
      told.push(await hook("prompt", sessionID, { prompt }))
      for (const { additionalContext: text } of told) {
        if (!text) continue
        const id = `${parts.at(-1).id}p` // parts stand in the order of their ids
        parts.push({ id, sessionID, messageID: message.id, type: "text", synthetic: true, text })
      }
    },
    "tool.execute.before": async ({ tool, sessionID }, { args }) => {
      if (!["edit", "write", "apply_patch"].includes(tool)) return
      const answer = await hook("pre-tool", sessionID, called(tool, args))
      if (answer.permissionDecision === "deny") throw new Error(answer.permissionDecisionReason)
    },
    "tool.execute.after": async ({ tool, sessionID, args }, output) => {
      if (!(tool in TOOLS)) return
      const answered = { exit_code: output.metadata?.exit ?? 0, output: output.output }
      const more = { ...called(tool, args), tool_response: answered }
      const { additionalContext } = await hook("post-tool", sessionID, more)
      if (additionalContext) output.output += `\n\n${additionalContext}`
    },
  }
}
// END PMEM
