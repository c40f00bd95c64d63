// Judges manifests with the code of kube-apiserver: its strict decoder, its defaults and its validation, without its storage and its
// admission. bench/containers builds it within the module k8s.io/kubernetes. Usage: judge FILE..., an object each; a line for each file.
package main

import (
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	batchvalidation "k8s.io/kubernetes/pkg/apis/batch/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
)

// The server sets the namespace of the request, an id, and the labels by which a Job finds its pods.
func judge(text []byte) error {
	decoder := serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDecoder()
	object, _, err := decoder.Decode(text, nil, nil)
	if err != nil {
		return err
	}
	switch one := object.(type) {
	case *batch.Job:
		one.Namespace, one.UID = metav1.NamespaceDefault, types.UID("1-2-3")
		labels := map[string]string{"batch.kubernetes.io/controller-uid": string(one.UID), "controller-uid": string(one.UID),
			"batch.kubernetes.io/job-name": one.Name, "job-name": one.Name}
		one.Spec.Template.Labels = labels
		one.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"batch.kubernetes.io/controller-uid": string(one.UID)}}
		return batchvalidation.ValidateJob(one, batchvalidation.JobValidationOptions{RequirePrefixedLabels: true}).ToAggregate()
	case *core.Pod:
		one.Namespace = metav1.NamespaceDefault
		return corevalidation.ValidatePodCreate(one, corevalidation.PodValidationOptions{}).ToAggregate()
	}
	return fmt.Errorf("%T is neither a Job nor a Pod", object)
}

func main() {
	for _, path := range os.Args[1:] {
		text, err := os.ReadFile(path)
		if err == nil {
			err = judge(text)
		}
		if err != nil {
			fmt.Printf("refused: %v\n", err)
		} else {
			fmt.Println("accepted")
		}
	}
}
