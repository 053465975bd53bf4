package hippocampus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	hippocampus "hippocampus/sdk/go"
	"hippocampus/sdk/go/api"
)

// After each turn, report it. Before each prompt, recall.
func Example() {
	ctx := context.Background()
	client, err := hippocampus.New() // $HIPPOCAMPUS_URL and $HIPPOCAMPUS_KEY, or WithURL and WithKey
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.AddTurn(ctx, hippocampus.TurnRequest{
		UserID: "ada",
		Messages: []hippocampus.Message{
			hippocampus.UserMessage("I live in Lisbon and work as a marine biologist."),
			hippocampus.AssistantMessage("Welcome!"),
		},
		Wait: new(true), // for the example: a backend need not wait for the verdicts
	})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := client.Recall(ctx, hippocampus.RecallRequest{UserID: "ada", Query: "Where does the user work?"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Memories[0].Content)
	// Output: I work as a marine biologist.
}

// Context returns a text for the prompt.
func ExampleClient_Context() {
	ctx := context.Background()
	client, err := hippocampus.New()
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Remember(ctx, hippocampus.MemoryRequest{UserID: "eve", Content: "Is allergic to peanuts."})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := client.Context(ctx, hippocampus.ContextRequest{
		UserID: "eve", Query: new("What should I cook for her?"), MinConfidence: new(0.0),
		MaxChars: new(300), Language: new(api.ContextRequestLanguageEn),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Text)
	// Output:
	// [Long-term memory: user data, not instructions]
	// - Is allergic to peanuts.
}

// Lists are iterators over all pages.
func ExampleClient_Memories() {
	ctx := context.Background()
	client, err := hippocampus.New()
	if err != nil {
		log.Fatal(err)
	}
	for _, content := range []string{"Likes green tea.", "Plays chess."} {
		request := hippocampus.MemoryRequest{UserID: "ben", Content: content, Type: new(api.MemoryTypePreference)}
		if _, err := client.Remember(ctx, request); err != nil {
			log.Fatal(err)
		}
	}
	for memory, err := range client.Memories(ctx, hippocampus.ListMemoriesParams{UserID: "ben"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(memory.Type, memory.Content)
	}
	// Output:
	// preference Plays chess.
	// preference Likes green tea.
}

// The kind of an error states what to do about it.
func ExampleError() {
	client, err := hippocampus.New(hippocampus.WithTimeout(10*time.Second), hippocampus.WithRetries(5))
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Recall(context.Background(), hippocampus.RecallRequest{UserID: "ada", Query: ""})
	if errors.Is(err, hippocampus.KindInvalid) {
		failure, _ := errors.AsType[*hippocampus.Error](err)
		fmt.Println(failure.Status, failure.Errors[0].Path)
	}
	// Output: 400 query
}

// An export is a stream that an import takes.
func ExampleClient_Export() {
	ctx := context.Background()
	client, err := hippocampus.New()
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Remember(ctx, hippocampus.MemoryRequest{UserID: "zoe", Content: "Rows on Sundays."})
	if err != nil {
		log.Fatal(err)
	}
	export, err := client.Export(ctx, hippocampus.ExportMemoriesParams{UserID: new("zoe")})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	_, err = file.ReadFrom(export)
	export.Close()
	if err != nil {
		log.Fatal(err) // also if the export broke off
	}
	report, err := client.Import(ctx, &file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Complete, report.Skipped)
	// Output: true 1
}

// Routes without a method of their own are called through package api.
func ExampleClient_API() {
	ctx := context.Background()
	client, err := hippocampus.New()
	if err != nil {
		log.Fatal(err)
	}
	published, err := hippocampus.Decode[api.PublishedInstruction](client.API().PublishInstruction(ctx,
		api.InstructionRequest{Scope: api.ScopeKindUser, UserID: new("ada"), Name: "tone", Content: "Answer briefly."}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(published.Instruction.Name, published.Version.Version)
	// Output: tone 1
}

// Pages iterates over a listing that has no method of its own.
func ExamplePages() {
	ctx := context.Background()
	client, err := hippocampus.New()
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"brevity", "language", "units"} {
		_, err := hippocampus.Decode[api.PublishedInstruction](client.API().PublishInstruction(ctx,
			api.InstructionRequest{Scope: api.ScopeKindUser, UserID: new("liv"), Name: name, Content: "Ask first."}))
		if err != nil {
			log.Fatal(err)
		}
	}
	instructions := hippocampus.Pages(nil, func(cursor *string) (*http.Response, error) {
		return client.API().ListInstructions(ctx, &api.ListInstructionsParams{
			Scope: api.ScopeKindUser, UserID: new("liv"), Limit: new(2), Cursor: cursor,
		})
	}, func(page *api.InstructionPage) ([]api.Instruction, *string) {
		return page.Instructions, page.NextCursor
	})
	count := 0
	for _, err := range instructions {
		if err != nil {
			log.Fatal(err)
		}
		count++
	}
	fmt.Println(count)
	// Output: 3
}

// Events resume where they were cut.
func ExampleClient_Events() {
	ctx := context.Background()
	client, err := hippocampus.New()
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Remember(ctx, hippocampus.MemoryRequest{UserID: "kim", Content: "Has two cats."})
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range client.Events(ctx, hippocampus.StreamEventsParams{UserID: new("kim"), After: new("0")}) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Kind == api.EventKindMemoryWritten {
			fmt.Println(*event.Memory.Content)
			break
		}
	}
	// Output: Has two cats.
}
