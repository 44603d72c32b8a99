// Package llm lets language models bargain within limits that a strategy of package bargain and the owner set.
package llm
