process COUNT {
  cpus 2
  memory '300 MB'
  tag "sample $sample"
  input: val sample
  output: stdout
  script:
  """
  python3 $projectDir/burn.py $sample
  """
}

process FAIL {
  errorStrategy 'ignore'
  script:
  """
  false
  echo "not reached"
  """
}

workflow {
  COUNT(Channel.of(50, 120)) | view
  FAIL()
}
