// Records this process while it works, and prints some figures: go run ./example run.jsonl
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"resourcetracker"
)

func record(path string) error {
	tracker, err := resourcetracker.Open(resourcetracker.Pid(os.Getpid()), resourcetracker.Set("interval", "0.05"),
		resourcetracker.Set("job-name", "harmonic series"), resourcetracker.Set("output", path))
	if err != nil {
		return err
	}
	defer tracker.Close()
	if err := tracker.Start(); err != nil {
		return err
	}
	if err := tracker.WaitForSamples(context.Background(), 1); err != nil {
		return err
	}
	sum := 0.0
	for i := 1; i < 50000000; i++ {
		sum += 1 / float64(i)
	}
	if err := tracker.Stop(); err != nil {
		return err
	}
	fmt.Printf("the sum is %.6f\n%d samples are in %s\n", sum, tracker.SampleCount(), path)
	snapshot, err := tracker.Snapshot()
	if err != nil {
		return err
	}
	defer snapshot.Close()
	for _, name := range []string{"elapsed_secs", "cpu.process_rss_mib", "cpu.cgroup_usage_secs"} {
		value, err := snapshot.Get(name)
		if err != nil {
			return err
		}
		if reason := value.Reason(); reason != "" {
			fmt.Printf("%s: unknown (%s)\n", name, reason)
		} else {
			fmt.Printf("%s: %v\n", name, value.Any())
		}
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: example FILE")
	}
	if err := record(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
