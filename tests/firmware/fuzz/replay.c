/* Runs a fuzz target on files, for builds without libFuzzer. */
#include <stdio.h>

#include "bytes_in.h"

static void replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long bytes = 0;

    MUST(file != NULL && fseek(file, 0, SEEK_END) == 0 && (bytes = ftell(file)) >= 0);
    rewind(file);
    data = malloc((size_t)bytes);
    MUST(fread(data, 1, (size_t)bytes, file) == (size_t)bytes);
    fclose(file);
    fprintf(stderr, "%s\n", path);
    (void)LLVMFuzzerTestOneInput(data, (size_t)bytes);
    free(data);
}

int main(int count, char **paths)
{
    for (int index = 1; index < count; index++) {
        replay(paths[index]);
    }
    return 0;
}
