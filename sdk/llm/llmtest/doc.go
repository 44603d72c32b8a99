// Package llmtest runs HTTP servers that speak the APIs of language models: OpenAI's responses and chat
// completions, the same at Azure OpenAI with TLS, and Anthropic's messages. Tests, tournaments and
// demonstrations use them in place of the vendors' servers.
//
// A script writes the model output. The servers check requests as the vendors do, count tokens, and fail on
// demand: by a plan, or by chance.
package llmtest
