/*
 * Prints the catalog that a broker of Spring Cloud Open Service Broker sends for each application.yml that is named:
 * `spring.jsonl.xz` holds its answers. To run it without a build of Spring:
 *
 *   - unpack src/main/java of spring-core, -beans, -context, -expression, -aop and -jcl (tag v6.1.21), of spring-boot
 *     (v3.3.13), and of the modules core and autoconfigure of spring-cloud-open-service-broker (4.3) to one folder;
 *   - comment out the converters of kotlin.text.Regex in DefaultConversionService, and write empty annotations for
 *     jakarta.validation.Valid and jakarta.validation.constraints.NotEmpty and NotNull;
 *   - ecj -17 -proc:none -proceedOnError -d out -cp snakeyaml.jar:jackson-*.jar:slf4j-api.jar:commons-logging.jar
 *         -sourcepath FOLDERS SpringAnswers.java .../boot/env/YamlPropertySourceLoader.java
 *     (what lacks other libraries is not called);
 *   - java -cp out:JARS SpringAnswers FILE...
 */

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.cloud.servicebroker.autoconfigure.web.ServiceBrokerProperties;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.FileSystemResource;

public class SpringAnswers {
  public static void main(String[] files) throws Exception {
    for (String file : files) {
      String answer;
      try {
        List<PropertySource<?>> sources = new YamlPropertySourceLoader().load(file, new FileSystemResource(file));
        Binder binder = new Binder(ConfigurationPropertySources.from(sources));
        ServiceBrokerProperties bound = binder.bind("spring.cloud.openservicebroker", ServiceBrokerProperties.class).get();
        answer = new ObjectMapper().writeValueAsString(bound.getCatalog().toModel());
      } catch (Exception error) {
        answer = "null"; // the broker does not start
      }
      System.out.println(file + "\t" + answer);
    }
  }
}
