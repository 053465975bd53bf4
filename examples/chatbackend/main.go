// Command chatbackend is a chat in the terminal with a long-term memory. It makes the two calls that every chat
// backend makes:
//
//	message -> Context -> prompt -> model -> answer -> AddTurn
//
// Start a server in one terminal and this program in another one, with a model of OpenAI's API or of Ollama:
//
//	go run ./cmd/hippocampus serve --dev
//	go run -C examples/chatbackend . --user ada --model-url http://127.0.0.1:11434/v1 --model llama3.2
//
// Each line of the standard input is a message of the user; empty lines are left out. Without --model-url the program
// answers with the prompt that a model would get. After a failure the chat continues, without its memory if the server
// fails. The address and the key of the server are $HIPPOCAMPUS_URL and $HIPPOCAMPUS_KEY.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	hippocampus "hippocampus/sdk/go"
	"hippocampus/sdk/go/api"
)

func main() {
	user := flag.String("user", "ada", "the user whose memories are used")
	url := flag.String("model-url", "", "base URL of the model, such as http://127.0.0.1:11434/v1; empty: no model")
	name := flag.String("model", "llama3.2", "name of the model")
	flag.Parse()
	memory, err := hippocampus.New()
	if err != nil {
		log.Fatal(err)
	}
	talk := chat{
		memory: memory, model: model{url: *url, name: *name, key: cmp.Or(os.Getenv("MODEL_KEY"), "none")},
		user: *user, conversation: fmt.Sprintf("%s-%d", *user, time.Now().UnixMilli()),
	}
	lines := bufio.NewScanner(os.Stdin)
	for prompt(); lines.Scan(); prompt() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		answer, err := talk.answer(context.Background(), lines.Text())
		if err != nil {
			log.Print(err)
			continue
		}
		fmt.Println(answer)
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}

// prompt asks for a message, apart from the answers.
func prompt() { fmt.Fprint(os.Stderr, "> ") }

// chat is one conversation of a user.
type chat struct {
	memory             *hippocampus.Client
	model              model
	user, conversation string
}

// answer returns the model's answer to a message, and reports both as a turn. A failure of the memory is logged.
func (c chat) answer(ctx context.Context, said string) (string, error) {
	known, err := c.memory.Context(ctx, hippocampus.ContextRequest{
		UserID: c.user, ConversationID: &c.conversation, Query: &said,
		Format: new(api.ContextRequestFormatMessages), MaxTokens: new(2000),
	})
	var messages []api.ContextMessage
	if err != nil {
		log.Printf("answering without memory: %v", err)
	} else {
		messages = known.Messages
	}
	answer, err := c.model.complete(ctx, append(messages, api.ContextMessage{Role: "user", Content: said}))
	if err != nil {
		return "", fmt.Errorf("asking the model: %w", err)
	}
	_, err = c.memory.AddTurn(ctx, hippocampus.TurnRequest{
		UserID: c.user, ConversationID: &c.conversation,
		Messages: []hippocampus.Message{hippocampus.UserMessage(said), hippocampus.AssistantMessage(answer)},
	})
	if err != nil {
		log.Printf("the turn is not remembered: %v", err)
	}
	return answer, nil
}

// model is a language model behind OpenAI's API.
type model struct{ url, name, key string }

// complete returns the model's answer to a prompt, or the prompt if there is no model.
func (m model) complete(ctx context.Context, prompt []api.ContextMessage) (string, error) {
	if m.url == "" {
		var text strings.Builder
		for _, message := range prompt {
			fmt.Fprintf(&text, "%s: %s\n", message.Role, message.Content)
		}
		return text.String(), nil
	}
	body, err := json.Marshal(map[string]any{"model": m.name, "messages": prompt})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+m.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	var completion struct {
		Choices []struct {
			Message api.ContextMessage `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(text, &completion); err != nil || len(completion.Choices) == 0 {
		return "", fmt.Errorf("the model answers %s: %s", response.Status, text)
	}
	return completion.Choices[0].Message.Content, nil
}
