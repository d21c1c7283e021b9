// A round through a broker with franz-go: produce, consume as a group, commit, one transaction
// committed and one aborted. Prints what it saw; the test that runs it says what that must be.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	broker, topic, group := os.Args[1], os.Args[2], os.Args[3]
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := run(ctx, broker, topic, group); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, broker, topic, group string) error {
	if err := produce(ctx, broker, topic); err != nil {
		return fmt.Errorf("produce: %w", err)
	}
	if err := consume(ctx, broker, topic, group); err != nil {
		return fmt.Errorf("consume: %w", err)
	}
	if err := transact(ctx, broker, topic); err != nil {
		return fmt.Errorf("transact: %w", err)
	}
	return nil
}

func produce(ctx context.Context, broker, topic string) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(broker),
		kgo.DefaultProduceTopic(topic),
		kgo.ProducerBatchCompression(kgo.ZstdCompression()),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	for i := range 100 {
		record := kgo.StringRecord(fmt.Sprintf("v%d", i))
		result, err := client.ProduceSync(ctx, record).First()
		if err != nil {
			return err
		}
		if result.Offset != int64(i) {
			return fmt.Errorf("record %d got offset %d", i, result.Offset)
		}
	}
	fmt.Println("produced 100")
	return nil
}

func consume(ctx context.Context, broker, topic, group string) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(broker),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	next := int64(0)
	for next < 100 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		for _, record := range fetches.Records() {
			if record.Offset != next || string(record.Value) != fmt.Sprintf("v%d", next) {
				return fmt.Errorf("offset %d holds %q, expected offset %d", record.Offset, record.Value, next)
			}
			next++
		}
	}
	if err := client.CommitUncommittedOffsets(ctx); err != nil {
		return err
	}
	fmt.Println("consumed 100")
	return nil
}

func transact(ctx context.Context, broker, topic string) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(broker),
		kgo.DefaultProduceTopic(topic),
		kgo.TransactionalID(topic),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	for _, end := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
		if err := client.BeginTransaction(); err != nil {
			return err
		}
		value := map[kgo.TransactionEndTry]string{kgo.TryAbort: "gone", kgo.TryCommit: "kept"}[end]
		if err := client.ProduceSync(ctx, kgo.StringRecord(value)).FirstErr(); err != nil {
			return err
		}
		if err := client.EndTransaction(ctx, end); err != nil {
			return err
		}
	}
	fmt.Println("committed one, aborted one")
	return nil
}
